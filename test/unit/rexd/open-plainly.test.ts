import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  MAX_ALGORITHMS,
  MAX_CLIENT_CHARS,
  MAX_PATH_CHARS,
  MAX_REQUESTED,
} from '../../../src/rexd/protocol/open-bounds.js';
import { openPlainly } from '../../../src/rexd/protocol/open-plainly.js';
import { SessionOpen } from '../../../src/rexd/protocol/session-open.js';
import type { JsonRpcParams } from '../../../src/wire/jsonrpc/message.js';

const FULL = {
  client_name: 'c',
  client_version: '1',
  workspace_roots: ['/a'],
  requested_capabilities: ['exec'],
  limits: { max_output_bytes: 1, hard_timeout_ms: 5 },
  resumable: true,
  resume_window_ms: 1,
  compression: { algorithms: ['deflate'], adaptive: false },
};

test('what clients send as a rule is read without the schema, and just as the schema reads it', () => {
  const plain = [
    undefined,
    {},
    FULL,
    { client_name: 'c', of_tomorrow: 1 },
    { compression: { algorithms: [] } },
  ];
  for (const params of plain) {
    expect(openPlainly(params)).toBeDefined();
    expect(openPlainly(params)).toEqual(SessionOpen.params.parse(params ?? {}));
  }
});

const WRONG: readonly JsonRpcParams[] = [
  [],
  ['c'],
  { client_name: null },
  { client_name: 'a'.repeat(MAX_CLIENT_CHARS + 1) },
  { client_version: 7 },
  { workspace_roots: '/a' },
  { workspace_roots: [''] },
  { workspace_roots: ['a'.repeat(MAX_PATH_CHARS + 1)] },
  { workspace_roots: Array(MAX_REQUESTED + 1).fill('/a') },
  { requested_capabilities: [1] },
  { limits: { max_output_bytes: 0 } },
  { limits: { max_output_bytes: 1.5 } },
  { limits: [] },
  { resumable: 'yes' },
  { resume_window_ms: 2 ** 53 },
  { compression: {} },
  { compression: { algorithms: Array(MAX_ALGORITHMS + 1).fill('x') } },
  { compression: { algorithms: ['deflate'], adaptive: 1 } },
];
test.each(WRONG.map((params) => [JSON.stringify(params).slice(0, 60), params]))(
  'what is not plainly right is left to the schema: %s',
  (_, params) => {
    expect(openPlainly(params)).toBeUndefined();
  },
);

test('it never takes what the schema refuses, nor reads it otherwise', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.integer({ min: -2, max: 3 }),
    fc.array(fc.string({ maxLength: 3 })),
    fc.constantFrom(...Object.values(FULL)),
  );
  const names = [...Object.keys(FULL), 'algorithms', 'adaptive', 'max_output_bytes', 'toString'];
  const record = fc.dictionary(fc.constantFrom(...names), value);
  const params = fc.dictionary(fc.constantFrom(...names), fc.oneof(value, record));
  fc.assert(
    fc.property(params, (given) => {
      const read = openPlainly(given);
      expect(read ?? 'for the schema').toEqual(
        read === undefined ? 'for the schema' : SessionOpen.params.parse(given),
      );
    }),
    { numRuns: 3000 },
  );
});
