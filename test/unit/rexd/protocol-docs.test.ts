// What is written about the protocol says all of it.

import { expect, test } from 'vitest';
import { renderProtocolPage } from '../../../scripts/protocol-page.js';
import { CODES_OF_JSON_RPC, ERROR_NOTES, METHOD_NOTES } from '../../../scripts/rexd-notes.js';
import { ERROR_CODES } from '../../../src/rexd/protocol/errors.js';
import { EVENTS, METHODS } from '../../../src/rexd/protocol.js';

const page = renderProtocolPage({
  title: 'T',
  source: 's',
  methods: Object.values(METHODS),
  events: Object.values(EVENTS),
  errorCodes: ERROR_CODES,
  errorNotes: ERROR_NOTES,
  standardErrors: CODES_OF_JSON_RPC,
  invalidParams: [['`r`', 'x']],
  methodNotes: METHOD_NOTES,
});

test('every method and every event has its section', () => {
  for (const { name } of Object.values(METHODS)) expect(page).toContain(`\n## ${name}\n`);
  for (const { name } of Object.values(EVENTS)) expect(page).toContain(`\n### ${name}\n`);
});

test('every code says when it comes and what its data is', () => {
  for (const [name, code] of Object.entries(ERROR_CODES))
    expect(page).toMatch(new RegExp(`\\| \`${code}\` \\| \`${name}\` \\| [^|]{20,} \\| [^|]{5,} \\|`));
  expect(page).toContain('| `-32602` |');
});

test('fields within fields have their types, and bounds are told', () => {
  expect(page).toContain('| `limits.max_output_bytes` | integer, at least 1 | no |');
  expect(page).toContain('| `entries[].name` | string | yes |');
  expect(page).toContain('| `matches[].line` | integer | yes |');
  expect(page).toContain('| `cols` | integer, 1 to 65535 |');
  expect(page).toContain('| `path` | string, 1 to 4096 characters | yes |');
});

test('notes are about methods that there are, and every listed error is one', () => {
  const names = new Set<string>(Object.values(METHODS).map(({ name }) => name));
  expect(Object.keys(METHOD_NOTES).filter((name) => !names.has(name))).toEqual([]);
  const unknown = Object.values(METHODS).flatMap(({ errors }) =>
    errors.filter((name) => !(name in ERROR_CODES)),
  );
  expect(unknown).toEqual([]);
  expect(page).not.toContain('undefined');
});
