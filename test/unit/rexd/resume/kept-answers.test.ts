// Requests that are sent again: carried out once, whatever became of the first answer.

import { expect, test } from 'vitest';
import { RpcError } from '../../../../src/base/errors.js';
import {
  type AskedCall,
  KeptAnswers,
  MAX_ANSWERED,
  MAX_ANSWERS,
  MAX_ANSWERS_BYTES,
} from '../../../../src/rexd/resume/kept-answers.js';
import { RawJson } from '../../../../src/wire/jsonrpc/encode.js';
import { joinPieces } from '../../../../src/wire/ndjson/pieces.js';
import { REQUEST_CANCELLED } from '../../../../src/wire/jsonrpc/message.js';

const never = new AbortController().signal;
const ask = (id: string | number, params: Record<string, unknown> = {}, more: Partial<AskedCall> = {}) => ({
  id,
  method: 'fs.write',
  params,
  signal: never,
  ...more,
});
const text = (answer: unknown): unknown => JSON.parse(joinPieces([(answer as RawJson).json]).toString());

test('the same request under the same id runs once, and is answered again', async () => {
  const answers = new KeptAnswers();
  let runs = 0;
  const run = (): unknown => ({ runs: (runs += 1) });
  expect(text(answers.once(ask(1), run))).toEqual({ runs: 1 });
  expect(text(answers.once(ask(1), run))).toEqual({ runs: 1 });
  expect(text(await answers.once(ask('1'), run))).toEqual({ runs: 2 }); // another id
  expect(runs).toBe(2);
});

test('one that still runs is waited for by all that ask', async () => {
  const answers = new KeptAnswers();
  let finish: (result: unknown) => void = () => {};
  let runs = 0;
  const run = (): unknown => {
    runs += 1;
    return new Promise((resolve) => (finish = resolve));
  };
  const both = [answers.once(ask(1), run), answers.once(ask(1), run)] as const;
  finish({ ok: true });
  expect([text(await both[0]), text(await both[1])]).toEqual([{ ok: true }, { ok: true }]);
  expect(runs).toBe(1);
});

test('all get the whole of an answer that can be made only once', async () => {
  const answers = new KeptAnswers();
  const chunks = (function* () {
    yield Buffer.from('"lo');
    yield Buffer.from('ng"');
  })();
  const run = async (): Promise<RawJson> => new RawJson({ length: 6, chunks });
  const read = ask(1, {}, { method: 'fs.read' });
  const both = [answers.once(read, run), answers.once(read, run)] as const;
  expect([text(await both[0]), text(await both[1])]).toEqual(['long', 'long']);
});

test('an error is an answer too', () => {
  const answers = new KeptAnswers();
  let runs = 0;
  const run = (): unknown => {
    runs += 1;
    throw new RpcError(-32_002, 'no', { data: { path: '/x' } });
  };
  for (let i = 0; i < 3; i += 1) expect(() => answers.once(ask(1), run)).toThrow('no');
  expect(runs).toBe(1);
});

test('an id that stands for another request is a new one', () => {
  const answers = new KeptAnswers();
  expect(text(answers.once(ask(1, { path: 'a' }), () => 'a'))).toBe('a');
  expect(text(answers.once(ask(1, { path: 'b' }), () => 'b'))).toBe('b');
  expect(text(answers.once(ask(1, { path: 'b' }), () => 'c'))).toBe('b');
});

test('the end of a connection calls nothing off, the client does, also for who asked before', async () => {
  const answers = new KeptAnswers();
  const seen: AbortSignal[] = [];
  const run = (signal: AbortSignal): unknown => {
    seen.push(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  };
  const [lost, again] = [new AbortController(), new AbortController()];
  const first = answers.once(ask(1, {}, { signal: lost.signal }), run) as Promise<RawJson>;
  lost.abort(new Error('connection lost'));
  expect(seen[0]?.aborted).toBe(false);
  const second = answers.once(ask(1, {}, { signal: again.signal }), run) as Promise<RawJson>;
  again.abort(new RpcError(REQUEST_CANCELLED, 'called off'));
  await expect(first).rejects.toThrow('called off');
  await expect(second).rejects.toThrow('called off');
  expect(seen).toHaveLength(1);
});

test('the end of the session calls off what runs', async () => {
  const answers = new KeptAnswers();
  const running = answers.once(
    ask(1),
    (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  ) as Promise<RawJson>;
  answers.stop(new Error('the session is over'));
  await expect(running).rejects.toThrow('the session is over');
});

test('what is acknowledged is forgotten', () => {
  const answers = new KeptAnswers();
  let runs = 0;
  const run = (): unknown => (runs += 1);
  void answers.once(ask(1), run);
  void answers.once(ask('a'), run);
  expect(answers.size).toBe(2);
  answers.ack([1, 'a']);
  expect([answers.size, answers.bytes]).toEqual([0, 0]);
});

test('beyond MAX_ANSWERS the oldest answer goes, and its request is still not carried out again', () => {
  const answers = new KeptAnswers();
  for (let i = 0; i <= MAX_ANSWERS; i += 1) void answers.once(ask(i), () => i);
  expect(answers.size).toBe(MAX_ANSWERS);
  expect(() => answers.once(ask(0), () => 'again')).toThrow('no longer kept');
  expect(text(answers.once(ask(1), () => 'again'))).toBe(1);
});

test('beyond MAX_ANSWERS_BYTES the oldest go too', () => {
  const answers = new KeptAnswers();
  const large = (): unknown => new RawJson(Buffer.alloc(MAX_ANSWERS_BYTES / 4, 0x31));
  for (let i = 0; i < 8; i += 1) void answers.once(ask(i), large);
  expect(answers.bytes).toBeLessThanOrEqual(MAX_ANSWERS_BYTES);
  expect(answers.size).toBe(3);
  expect(() => answers.once(ask(0), large)).toThrow('no longer kept');
});

test('what only reads is read anew each time: an id that never changes is not told old news', async () => {
  const answers = new KeptAnswers();
  const list = ask(1, {}, { method: 'exec.list' });
  expect(text(answers.once(list, () => 'running'))).toBe('running');
  expect(text(answers.once(list, () => 'ended'))).toBe('ended');
  await expect(answers.once(list, () => Promise.reject(new Error('busy')))).rejects.toThrow('busy');
  expect(text(await answers.once(list, () => Promise.resolve('ended')))).toBe('ended');
  expect([answers.size, answers.bytes]).toEqual([0, 0]);
});

test('of MAX_ANSWERED requests it is known for good that they were carried out', () => {
  const answers = new KeptAnswers({ answers: 1 });
  for (let i = 0; i <= MAX_ANSWERED + 1; i += 1) void answers.once(ask(i), () => i);
  expect(() => answers.once(ask(1), () => 'again')).toThrow('no longer kept');
  expect(text(answers.once(ask(0), () => 'again'))).toBe('again');
});
