// What `stdio-bus` keeps in memory for a trace that cannot be written, and for an answer that does not end.

import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { askBus, MAX_ANSWER_BYTES } from '../../../../src/cli/bus/ask-bus.js';
import { MAX_UNREAD_STDERR_BYTES, StderrWriter } from '../../../../src/cli/bus/stderr-writer.js';
import { MAX_TRACE_BYTES, openTrace } from '../../../../src/cli/bus/trace-file.js';
import { STATS_USAGE } from '../../../../src/cli/bus/usage.js';
import { parseFlags } from '../../../../src/cli/flags.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'hawser-bus-caps-'));
afterAll(() => removeFolder(folder));

const stderr = { write: (): void => {} };

test('lines past MAX_UNREAD_STDERR_BYTES are left out while nobody reads, and counted when somebody does', async () => {
  const out = new PassThrough({ highWaterMark: 1 });
  const writer = new StderrWriter(out);
  const line = `${'x'.repeat(1023)}\n`;
  const count = MAX_UNREAD_STDERR_BYTES / 1024 + 50;
  for (let i = 0; i < count; i++) writer.write(line);
  let text = '';
  out.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until(() => out.writableLength === 0, 'the reader');
  writer.write('last\n');
  await writer.flush();
  await until(() => text.endsWith('last\n'), 'the last line');
  const left = Number(/stdio-bus: (\d+) lines were left out/.exec(text)?.[1]);
  expect(left).toBeGreaterThan(0);
  expect(text.split(line).length - 1 + left).toBe(count);
});

test('records past MAX_TRACE_BYTES are left out, and it is said how many', async () => {
  const file = join(folder, 'trace');
  const trace = openTrace(file, 'text', stderr);
  const record = {
    from: 'client 1',
    to: 'worker 1',
    kind: 'request',
    method: 'm'.repeat(100),
    bytes: 7,
  } as const;
  const count = Math.ceil(MAX_TRACE_BYTES / 100);
  for (let i = 0; i < count; i++) trace.hook(record); // nothing is written before the next turn of the event loop
  let later = 0;
  const isTakenAgain = (): boolean => {
    if (statSync(file).size > MAX_TRACE_BYTES / 2) later += 1;
    if (later > 0) trace.hook(record);
    return later > 100;
  };
  await until(isTakenAgain, 'what waited to be written');
  await trace.close();
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { trace: string; records?: number });
  const left = lines.filter((line) => line.trace === 'left out').map(({ records = 0 }) => records);
  expect(left[0]).toBeGreaterThan(0);
  const sum = left.reduce((all, records) => all + records, 0);
  expect(sum + lines.length - left.length).toBe(count + later);
  expect(lines[0]).toMatchObject({ trace: 'message', from: 'client 1', bytes: 7 });
});

test('a trace that cannot be opened is a mistake of whoever named it', () => {
  expect(() => openTrace(join(folder, 'none/trace'), 'text', stderr)).toThrow('cannot be written (ENOENT)');
});

test('an answer past MAX_ANSWER_BYTES is given up', async () => {
  const path = join(folder, 's');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(Buffer.alloc(MAX_ANSWER_BYTES + 1024 * 1024, 'x'));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const flags = parseFlags(STATS_USAGE, ['--unix', path]);
  await expect(askBus(flags, { method: 'bus/stats', timeoutMs: 60_000 })).rejects.toThrow('is longer than');
  await new Promise((resolve) => server.close(resolve));
});

test('nobody there, and nobody answering, are told apart', async () => {
  const ask = (path: string, timeoutMs: number) =>
    askBus(parseFlags(STATS_USAGE, ['--unix', path]), { method: 'bus/stats', timeoutMs });
  await expect(ask(join(folder, 'none'), 60_000)).rejects.toThrow('there is no such socket');
  const path = join(folder, 'mute');
  const server = createServer((socket) => void socket.on('end', () => socket.destroy()).resume());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  await expect(ask(path, 50)).rejects.toThrow('within 50 ms');
  await new Promise((resolve) => server.close(resolve));
});
