import { expect, test } from 'vitest';
import { openPty } from '../../../../src/host/pty/open-pty.js';
import { MAX_REST_BYTES } from '../../../../src/host/pty/master.js';
import {
  MAX_READ_BYTES,
  MAX_UNREAD_BYTES,
  MAX_WAITING_READERS,
  REPLAY_BYTES,
} from '../../../../src/host/pty/pty.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';
import { plainEnv, readAll, readUntil } from './terminals.js';

const env = plainEnv();
const WRITTEN = 64 * 1024;

test('every byte value passes unchanged', async () => {
  const bytes = Array.from({ length: 256 }, (_, byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  await using pty = await openPty({ argv: ['sh', '-c', `stty -opost; printf '${bytes}'`], env });
  expect([...(await readAll(pty))]).toEqual(Array.from({ length: 256 }, (_, byte) => byte));
});

const TIMES = runs(210, 60);

test(`a program that writes 64 KiB and ends at once loses nothing, ${TIMES} times`, async () => {
  const lost: number[] = [];
  for (let round = 0; round < TIMES; round++) {
    await using pty = await openPty({ argv: ['head', '-c', String(WRITTEN), '/dev/zero'], env });
    // Every third round nobody reads until the end has been reported, so that the terminal is full when it comes.
    if (round % 3 === 0) await until(() => pty.offset >= MAX_UNREAD_BYTES || !pty.running, 'a full terminal');
    const [output] = await Promise.all([readAll(pty), pty.exited]);
    if (output.length !== WRITTEN) lost.push(WRITTEN - output.length);
  }
  expect(lost).toEqual([]);
});

test('the end is reported after the last byte, also when nobody reads', async () => {
  await using pty = await openPty({ argv: ['sh', '-c', `head -c ${WRITTEN} /dev/zero; printf last`], env });
  const reading = readUntil(pty, '\0'); // a reader that loses interest
  await pty.exited;
  await reading;
  expect(pty.offset).toBe(WRITTEN + 4);
  expect((await readAll(pty)).subarray(-4).toString()).toBe('last');
});

test('a program waits while nobody reads, and goes on when somebody does', async () => {
  const total = 8 * 1024 * 1024;
  await using pty = await openPty({ argv: ['head', '-c', String(total), '/dev/zero'], env });
  await until(() => pty.offset >= MAX_UNREAD_BYTES, 'the unread output to reach its limit');
  const held = pty.offset;
  await until(() => pty.isWaitingForInput() === false, 'a look at the program');
  expect(pty.offset).toBe(held);
  expect(held).toBeLessThan(MAX_UNREAD_BYTES + 8 * 1024);
  expect(pty.running).toBe(true);
  expect((await readAll(pty)).length).toBe(total);
  await expect(pty.exited).resolves.toEqual({ code: 0, signal: null, outputHeld: false });
});

test('a reader can come back and say where it stopped', async () => {
  await using pty = await openPty({ argv: ['seq', '1', '2000'], env });
  const all = await readAll(pty);
  expect(await readAll(pty, 3000)).toEqual(all.subarray(3000));
  expect(await pty.read(all.length)).toBeUndefined();
  expect(await pty.read(all.length + 99)).toBeUndefined();
});

test('what fell out of the replay is reported as lost', async () => {
  const total = 1024 * 1024;
  await using pty = await openPty({ argv: ['head', '-c', String(total), '/dev/zero'], env, replayBytes: 1 });
  await readAll(pty);
  const kept = MAX_UNREAD_BYTES + 2 * MAX_REST_BYTES; // never less than can be unread at the end
  expect(await pty.read(10)).toMatchObject({ at: total - kept, lost: total - kept - 10 });
});

test('one read gives 64 KiB at most, and the next goes on from there', async () => {
  await using pty = await openPty({ argv: ['head', '-c', String(MAX_READ_BYTES + 10), '/dev/zero'], env });
  await readAll(pty);
  expect((await pty.read(0))?.data).toHaveLength(MAX_READ_BYTES);
  expect((await pty.read(MAX_READ_BYTES))?.data).toHaveLength(10);
});

test('unless told otherwise the last 256 KiB can be read again', async () => {
  const total = 1024 * 1024;
  await using pty = await openPty({ argv: ['head', '-c', String(total), '/dev/zero'], env });
  await readAll(pty);
  expect(await pty.read(total - REPLAY_BYTES)).toMatchObject({ at: total - REPLAY_BYTES, lost: 0 });
  expect(await pty.read(total - REPLAY_BYTES - 1)).toMatchObject({ at: total - REPLAY_BYTES, lost: 1 });
});

test('several readers get the same, each at its own pace', async () => {
  await using pty = await openPty({ argv: ['seq', '1', '5000'], env });
  const [first, second] = await Promise.all([readAll(pty), readAll(pty)]);
  expect(first).toEqual(second);
});

test('waiting for output can be given up, and is limited', async () => {
  await using pty = await openPty({ argv: ['cat'], env });
  const readers = Array.from({ length: MAX_WAITING_READERS }, () => new AbortController());
  const waiting = readers.map((reader) => pty.read(0, reader.signal));
  await expect(pty.read(0)).rejects.toMatchObject({ code: 'too_many_readers' });
  for (const reader of readers) reader.abort(new Error('enough'));
  for (const read of waiting) await expect(read).rejects.toThrow('enough');
  const next = pty.read(0);
  await pty.write(Buffer.from('x'));
  expect((await next)?.data.toString()).toBe('x');
});

test('waiting readers learn of the end', async () => {
  const pty = await openPty({ argv: ['sleep', '1000'], env });
  const reading = pty.read(0);
  await pty.close();
  await expect(reading).resolves.toBeUndefined();
});
