// Lines of any kind, read as MCP messages.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRefusal, isRequest, type ReadMember, readLine } from '../../../src/mcp/message-reader.js';
import { runs } from '../../helpers/runs.js';

const membersOf = (text: string): readonly ReadMember[] => {
  const line = readLine(text);
  if (line.kind === 'nothing') return [];
  return line.kind === 'one' ? [line.member] : line.members;
};

const id = fc.oneof(fc.integer(), fc.string(), fc.double(), fc.constant(null), fc.boolean());
const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '1.0', 2),
    id,
    method: fc.oneof(fc.string(), fc.integer()),
    params: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.integer()), fc.constant(null)),
    result: fc.jsonValue(),
    error: fc.jsonValue(),
    extra: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

test('any line is read without a throw, as messages that have nothing but their members', () => {
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    message.map((value) => JSON.stringify(value)),
    fc.array(message).map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(line, (text) => {
      const members = membersOf(text).map((member) =>
        member !== undefined && 'answer' in member ? member.answer : member,
      );
      const keys = members.flatMap((member) => Object.keys(member ?? {}));
      const allowed = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
      expect(keys.filter((key) => !allowed.has(key))).toEqual([]);
    }),
    { numRuns: runs(3000) },
  );
});

test('whoever asks with an id that can be answered is served or refused by that id, and an answer is not answered', () => {
  fc.assert(
    fc.property(message, (value) => {
      const [member] = membersOf(JSON.stringify(value));
      const answerable = typeof value.id === 'string' || Number.isSafeInteger(value.id);
      const isAnswer = value.method === undefined && ('result' in value || 'error' in value);
      const answered = isRequest(member) || isRefusal(member);
      fc.pre(answerable);
      // -0 is written as 0.
      const sameId = answered && JSON.stringify((member as { id: unknown }).id) === JSON.stringify(value.id);
      expect([answered, sameId]).toEqual([!isAnswer, !isAnswer]);
    }),
    { numRuns: runs(3000) },
  );
});
