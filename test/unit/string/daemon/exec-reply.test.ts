import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  describeOutcome,
  encodeOutcome,
  labelOf,
  MAX_LABEL_CHARS,
} from '../../../../src/string/daemon/exec-reply.js';
import { fail, succeed } from '../../../../src/string/result.js';
import type { CommandOutcome } from '../../../../src/string/runtime.js';
import { SseDecoder } from '../../../../src/wire/sse/decode.js';

const outcome: CommandOutcome = {
  ok: true,
  code: null,
  content: 'Session info',
  topic: { type: 'tab', name: 'main' },
  meta: null,
  result: succeed('Session info'),
};
const subject = { agentId: 'default', cmd: '/info', requestId: undefined };

test('a label is the first line, cut to 77 and three dots where it is longer than 80', () => {
  expect(labelOf('  /open x\nbody')).toBe('/open x');
  expect(labelOf('x'.repeat(MAX_LABEL_CHARS))).toBe('x'.repeat(80));
  expect(labelOf('x'.repeat(MAX_LABEL_CHARS + 1))).toBe(`${'x'.repeat(77)}...`);
  expect(labelOf(`${'x'.repeat(76)}${'𝒞'.repeat(9)}`)).toBe(`${'x'.repeat(76)}...`);
});

test('the three events, with the id of the client before the label', () => {
  const { head, content, done } = describeOutcome({ ...subject, requestId: 'r 1' }, outcome);
  expect(JSON.parse(head)).toEqual({
    ok: true,
    code: null,
    cmd: '/info',
    request_id: 'r 1',
    agent_id: 'default',
    topic: 'main',
    topic_type: 'tab',
    meta: null,
  });
  expect(JSON.parse(content)).toBe('re: [r 1] /info\nSession info');
  expect(done).toBe('{}');
});

test('a failure is ERROR(CODE): message, UNKNOWN when it has no code', () => {
  const result = fail('NOT_FOUND', 'nothing there');
  const failed = { ...outcome, ok: false, code: 'NOT_FOUND', content: 'nothing there', result };
  expect(JSON.parse(describeOutcome(subject, failed).content)).toBe(
    're: /info\nERROR(NOT_FOUND): nothing there',
  );
  const { head, content } = describeOutcome(subject, { ...failed, code: null });
  expect(JSON.parse(content)).toBe('re: /info\nERROR(UNKNOWN): nothing there');
  expect(JSON.parse(head)).toMatchObject({ ok: false, code: 'UNKNOWN' });
});

test('any text whatever arrives in three events, as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), (cmd, content) => {
      const text = encodeOutcome(describeOutcome({ ...subject, cmd }, { ...outcome, content }));
      const events = new SseDecoder().push(Buffer.from(text, 'utf8'));
      expect(events.map(({ event }) => event)).toEqual(['head', 'content', 'done']);
      const body = JSON.parse(events[1]?.data ?? '') as string;
      expect(body).toBe(`re: ${labelOf(cmd)}\n${content}`);
    }),
    { numRuns: 2000 },
  );
});
