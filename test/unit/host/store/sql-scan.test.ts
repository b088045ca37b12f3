import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanSql } from '../../../../src/host/store/sql-scan.js';
import { runs } from '../../../helpers/runs.js';

test.each([
  ['SELECT 1', { statements: 1, placeholders: 0, namedPlaceholders: 0 }],
  ['', { statements: 0, placeholders: 0, namedPlaceholders: 0 }],
  [' -- nothing ; ?\n/* nor ; here ? */ ;;', { statements: 0, placeholders: 0, namedPlaceholders: 0 }],
  ['SELECT ?, ?; ', { statements: 1, placeholders: 2, namedPlaceholders: 0 }],
  ['SELECT 1; SELECT ?', { statements: 2, placeholders: 1, namedPlaceholders: 0 }],
  ['SELECT ?1, :a, @b, $c', { statements: 1, placeholders: 0, namedPlaceholders: 4 }],
  [`SELECT '?;''?', "a?;", [b?;], \`c?;\``, { statements: 1, placeholders: 0, namedPlaceholders: 0 }],
  ['SELECT a$b FROM t WHERE a->>? = 1', { statements: 1, placeholders: 1, namedPlaceholders: 0 }],
  ["SELECT '?", { statements: 1, placeholders: 0, namedPlaceholders: 0 }],
])('%s', (sql, shape) => {
  expect(scanSql(sql)).toEqual(shape);
});

test('counts what was put together, whatever stands in quotes and comments', () => {
  const inside = fc.stringMatching(/^[\w?;: @$-]*$/);
  const piece = fc.oneof(
    inside.map((text) => [` '${text}' `, 0] as const),
    inside.map((text) => [` "${text}" `, 0] as const),
    inside.map((text) => [` [${text}] `, 0] as const),
    inside.map((text) => [` --${text}\n`, 0] as const),
    inside.map((text) => [` /*${text}*/ `, 0] as const),
    fc.constantFrom(['?', 1] as const, [' ? ', 1] as const, ['(?,?)', 2] as const, [' a1 ', 0] as const),
  );
  fc.assert(
    fc.property(fc.array(fc.array(piece), { minLength: 1 }), (statements) => {
      const sql = statements.map((pieces) => `SELECT ${pieces.map(([text]) => text).join('')}`).join(';');
      const expected = statements.flat().reduce((sum, [, count]) => sum + count, 0);
      expect(scanSql(sql)).toEqual({
        statements: statements.length,
        placeholders: expected,
        namedPlaceholders: 0,
      });
    }),
    { numRuns: runs(2000) },
  );
});
