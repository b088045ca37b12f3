import { expect, test } from 'vitest';
import { ChunkSender, MAX_WAITING_CHARS } from '../../../../src/string/daemon/chunk-sender.js';
import type { EventStream } from '../../../../src/wire/http/event-stream.js';

function slowStream(): { stream: EventStream; sent: string[]; release: () => void } {
  const sent: string[] = [];
  let release = (): void => {};
  const stream = {
    send: ({ data }: { data: string }) => {
      sent.push(JSON.parse(data) as string);
      return new Promise<void>((resolve) => (release = resolve));
    },
  } as unknown as EventStream;
  return { stream, sent, release: () => release() };
}

test('what gathers while one chunk is on its way goes as one, and what is too much is counted', async () => {
  const { stream, sent, release } = slowStream();
  const sender = new ChunkSender(stream);
  sender.push('a');
  sender.push('b');
  await new Promise(setImmediate);
  expect(sent).toEqual(['ab']);
  sender.push('x'.repeat(MAX_WAITING_CHARS));
  sender.push('lost');
  release();
  await new Promise(setImmediate);
  expect(sent[1]).toBe(`${'x'.repeat(MAX_WAITING_CHARS)}\n[4 characters not shown: read too slowly]\n`);
  release();
  await sender.drained();
});

test('a client that has left is no trouble', async () => {
  let tries = 0;
  const send = (): Promise<void> => {
    tries += 1;
    return Promise.reject(new Error('gone'));
  };
  const stream = { send } as unknown as EventStream;
  const sender = new ChunkSender(stream);
  sender.push('a');
  await sender.drained();
  sender.push('b');
  await sender.drained();
  expect(tries).toBe(2);
});
