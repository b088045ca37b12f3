// A command that is read without the schema is read as the schema reads it.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExecStart } from '../../../src/rexd/protocol/exec.js';
import { MAX_ARGV_WORDS, MAX_ID_CHARS } from '../../../src/rexd/protocol/fields.js';
import { MAX_PATH_CHARS } from '../../../src/rexd/protocol/open-bounds.js';
import { startPlainly } from '../../../src/rexd/protocol/start-plainly.js';
import type { JsonRpcParams } from '../../../src/wire/jsonrpc/message.js';
import { runs } from '../../helpers/runs.js';

const LEAST = { session_id: 's', argv: ['true'] };

test('what clients send as a rule is read without the schema, and just as the schema reads it', () => {
  const plain = [
    LEAST,
    { ...LEAST, stdin: '', cwd: 'a', timeout_ms: 0, max_output_bytes: 5, of_tomorrow: 1 },
    { ...LEAST, env: { A: '1', toString: '' } },
  ];
  for (const params of plain) {
    expect(startPlainly(params)).toBeDefined();
    expect(startPlainly(params)).toEqual(ExecStart.params.parse(params));
  }
});

const NOT_PLAIN: readonly (JsonRpcParams | undefined)[] = [
  undefined,
  ['s', ['true']],
  {},
  { session_id: 's' },
  { ...LEAST, session_id: '' },
  { ...LEAST, session_id: 'x'.repeat(MAX_ID_CHARS + 1) },
  { ...LEAST, argv: [] },
  { ...LEAST, argv: ['a', 1] },
  { ...LEAST, argv: Array<string>(MAX_ARGV_WORDS + 1).fill('') },
  { ...LEAST, cwd: '' },
  { ...LEAST, cwd: 'x'.repeat(MAX_PATH_CHARS + 1) },
  { ...LEAST, cwd: null },
  { ...LEAST, env: ['A'] },
  { ...LEAST, env: { A: 1 } },
  { ...LEAST, env: JSON.parse('{"__proto__":"x"}') as object },
  { ...LEAST, stdin: null },
  { ...LEAST, timeout_ms: -1 },
  { ...LEAST, timeout_ms: 1.5 },
  { ...LEAST, max_output_bytes: '1' },
  { ...LEAST, shell: false },
  { ...LEAST, stdin_open: true },
  { ...LEAST, detach: true },
  { ...LEAST, request_id: 'r' },
];

test('whatever is wrong or unusual is left to the schema', () => {
  for (const params of NOT_PLAIN) expect([params, startPlainly(params)]).toEqual([params, undefined]);
});

test('what is read without the schema is what the schema reads, of any params', () => {
  const value = fc.oneof(
    fc.constantFrom<unknown>(
      undefined,
      null,
      '',
      's',
      '/a',
      0,
      -1,
      7,
      1.5,
      2 ** 53,
      true,
      false,
      [],
      ['true'],
      {},
    ),
    fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }),
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()), { maxKeys: 3 }),
  );
  const rare = fc.option(value, { nil: undefined, freq: 3 });
  const params = fc.record(
    {
      session_id: fc.oneof(fc.constant('s'), value),
      argv: fc.oneof(fc.constant(['true']), value),
      cwd: value,
      env: value,
      stdin: value,
      timeout_ms: value,
      max_output_bytes: value,
      shell: rare,
      detach: rare,
      request_id: rare,
      other: value,
    },
    { requiredKeys: ['session_id', 'argv'] },
  );
  fc.assert(
    fc.property(params, (asked) => {
      const sent = JSON.parse(JSON.stringify(asked)) as JsonRpcParams;
      const whole = ExecStart.params.safeParse(sent);
      expect(startPlainly(sent) ?? whole.data).toEqual(whole.data);
    }),
    { numRuns: runs(10_000) },
  );
});
