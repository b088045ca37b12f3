import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import {
  Bridge,
  BRIDGE_CANCEL_GRACE_MS,
  BRIDGE_END_GRACE_MS,
  MAX_BRIDGE_LINE_BYTES,
  MAX_OPEN_BRIDGE_REQUESTS,
} from '../../../../src/hugind/bridge/bridge.js';
import { MAX_ID_CHARS, readBridgeLine, refuseOversize } from '../../../../src/hugind/bridge/read-line.js';
import type { Handlers } from '../../../../src/hugind/call.js';
import { findHome } from '../../../../src/hugind/home.js';
import { Turns } from '../../../../src/hugind/turns.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { until } from '../../../helpers/wait.js';

function open(run: Handlers['model.list']['run']) {
  const [mine, theirs] = linkedPair();
  const bridge = new Bridge(theirs, {
    home: findHome({ HUGIND_HOME: '/nowhere' }),
    env: {},
    turns: new Turns(),
    handlers: { 'model.list': { run } } as unknown as Handlers,
    endGraceMs: 1,
    onError: () => {},
  });
  const lines: Record<string, unknown>[] = [];
  createInterface(mine.input).on('line', (line) => lines.push(JSON.parse(line) as Record<string, unknown>));
  return { mine, bridge, lines };
}

const LIST = (id: number): string => `{"id":${id},"method":"model.list"}\n`;

test('no more requests are read than are being answered at once', async () => {
  let started = 0;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { mine, bridge, lines } = open(async () => {
    started += 1;
    await held;
    return { repos: [] };
  });
  for (let id = 0; id < MAX_OPEN_BRIDGE_REQUESTS + 50; id++) mine.output.write(LIST(id));
  await until(() => started >= MAX_OPEN_BRIDGE_REQUESTS, 'the first to be read');
  expect(started).toBeLessThan(MAX_OPEN_BRIDGE_REQUESTS + 50);
  release();
  await until(() => lines.length === MAX_OPEN_BRIDGE_REQUESTS + 50, 'every answer');
  await bridge.close();
  await mine.close();
});

test('after the end of the input what does not end is called off, and what does not listen is left', async () => {
  const { mine, bridge, lines } = open(
    (_params, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
  );
  mine.output.write(LIST(1));
  mine.output.end();
  if (!bridge.signal.aborted) await once(bridge.signal, 'abort');
  expect(lines).toMatchObject([{ id: 1, ok: false, error: { code: 'cancelled' } }]);
  await mine.close();

  const deaf = open(() => new Promise(() => {}));
  deaf.mine.output.write(LIST(2));
  deaf.mine.output.end();
  if (!deaf.bridge.signal.aborted) await once(deaf.bridge.signal, 'abort');
  await deaf.mine.close();
  // Both graces, and what the link takes to close, are within the five seconds that were promised.
  expect(BRIDGE_END_GRACE_MS + BRIDGE_CANCEL_GRACE_MS + 1000).toBeLessThan(5000);
});

test('a line that is too long is told by its id, in its own envelope', () => {
  const tooLong = (text: string) => refuseOversize(Buffer.from(text), MAX_BRIDGE_LINE_BYTES);
  expect(tooLong('{"id":"a","x":"')).toMatchObject({ id: 'a', isMcp: false });
  expect(tooLong('{"id":17,"x":"')).toMatchObject({ id: 17, isMcp: false });
  expect(tooLong('{"jsonrpc":"2.0","id":3,"x":"')).toMatchObject({ id: 3, isMcp: true });
  expect(tooLong('{"params":{"id":3,"x":"')).toMatchObject({ id: 'unknown', isMcp: false });
});

test('an id has an end', () => {
  const read = (id: string) => readBridgeLine(Buffer.from(JSON.stringify({ id, method: 'x' })));
  expect(read('i'.repeat(MAX_ID_CHARS))).toMatchObject({ kind: 'request' });
  expect(read('i'.repeat(MAX_ID_CHARS + 1))).toMatchObject({ kind: 'refused', id: 'unknown' });
});
