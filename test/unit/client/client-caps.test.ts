// The caps of the client: what it keeps of a command's complaints and of events nobody listens to yet, and how long it waits.

import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { MAX_STDERR_CHARS, openCommandLink } from '../../../src/client/rex/command-link.js';
import { MAX_EARLY_EVENTS, ProcessEvents } from '../../../src/client/rex/process-events.js';
import { OPEN_TIMEOUT_MS, RexClient } from '../../../src/client/rex/rex-client.js';
import { linkedPair } from '../../../src/wire/transport/memory.js';
import { makeScratch } from '../../helpers/scratch.js';
import { until } from '../../helpers/wait.js';

test('of what a command says on stderr the end is kept', async () => {
  const script = `head -c ${3 * MAX_STDERR_CHARS} /dev/zero | tr '\\0' x >&2; echo the end >&2`;
  const link = await openCommandLink(['sh', '-c', script]);
  const silent = once(link.input, 'error'); // it never begins to speak
  link.input.resume();
  await silent;
  await link.exited;
  await link.close();
  expect(link.stderr()).toMatch(/^x+\s?the end$/);
  expect(link.stderr().length).toBeLessThanOrEqual(MAX_STDERR_CHARS);
});

test('last words that are there when their time is up are heard, also by who was kept from listening', async () => {
  const said = join(makeScratch(), 'said');
  const script = `(while [ -d /proc/$$ ]; do sleep 0.01; done; echo last words >&2; : > '${said}') &`;
  const link = await openCommandLink(['sh', '-c', script]);
  link.input.on('error', () => {}); // it never begins to speak
  link.input.resume();
  await until(() => !existsSync(`/proc/${link.pid}`), 'its end');
  await new Promise((resolve) => setImmediate(resolve)); // from here timers come first
  const end = performance.now() + 500;
  while (!existsSync(said) || performance.now() < end); // the event loop stands still meanwhile
  await link.exited;
  expect(link.stderr()).toBe('last words');
  await link.close();
});

test('events of processes nobody listens to yet are kept, up to a number, and then delivered in order', () => {
  const events = new ProcessEvents();
  const output = (process_id: string, i: number): void =>
    events.receive('exec.stdout', { process_id, data: `${i};`, encoding: 'utf8' });
  for (let i = 0; i < MAX_EARLY_EVENTS + 5; i++) output('p', i);
  let heard = '';
  const listener = {
    onOutput: (_stream: string, bytes: Buffer) => void (heard += bytes.toString()),
    onExit: () => {},
    onLost: () => {},
  };
  events.listen('p', listener);
  expect(heard.split(';').length - 1).toBe(MAX_EARLY_EVENTS);
  expect(heard).toMatch(/^0;1;2;3;/);
  output('q', 1);
  output('p', 9999);
  expect(heard).toMatch(/;9999;$/); // what was delivered makes room again
});

test('a server that does not answer its first request is not waited for without end', async () => {
  vi.useFakeTimers();
  try {
    const [ours] = linkedPair();
    const opening = RexClient.open(ours, { clientName: 't' }).catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(OPEN_TIMEOUT_MS + 5000);
    expect(await opening).toMatchObject({ name: 'TimeoutError' });
  } finally {
    vi.useRealTimers();
  }
});
