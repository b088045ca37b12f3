import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  HIGH_WATER_BYTES,
  LineWriter,
  LOW_WATER_BYTES,
  MAX_DIRECT_BYTES,
  MAX_QUEUED_BYTES,
  QueueFullError,
} from '../../../../src/wire/ndjson/line-writer.js';
import type { Line } from '../../../../src/wire/ndjson/pieces.js';
import { runs } from '../../../helpers/runs.js';

/** A stream that holds each write until it is told to go on. */
function slowStream(): { out: Writable; writes: string[]; step: () => void } {
  const writes: string[] = [];
  let pending: (() => void) | undefined;
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(String(chunk));
      pending = done;
    },
  });
  return {
    out,
    writes,
    step() {
      const done = pending;
      pending = undefined;
      done?.();
    },
  };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('lines go out in order, text and bytes alike', async () => {
  const out = new PassThrough();
  const writer = new LineWriter(out);
  writer.send('one');
  writer.send(Buffer.from('two'));
  writer.send(['thr', Buffer.from('e'), Buffer.alloc(0), 'e']);
  writer.send('');
  await writer.write('größer');
  await writer.end();
  expect(await text(out)).toBe('one\ntwo\nthree\n\ngrößer\n');
});

test.each([
  ['a long line', ['x'.repeat(4096)]],
  ['a burst', ['a', 'b', 'c']],
])('%s goes out though somebody else has written to the stream before', async (_, lines) => {
  const { out, writes, step } = slowStream();
  const writer = new LineWriter(out);
  const warmUp = Promise.all([writer.write('one'), writer.write('two')]); // so that a burst is expected
  for (let i = 0; i < 2; i++) {
    step();
    await tick();
  }
  await warmUp;
  out.write('hello\n');
  const landed = Promise.all(lines.map((line) => writer.write(line)));
  for (let i = 0; i < 2; i++) {
    await tick();
    step();
  }
  await landed;
  expect(writes.slice(-2)).toEqual(['hello\n', lines.map((line) => `${line}\n`).join('')]);
});

test('lines of one tick join into one write', async () => {
  const { out, writes, step } = slowStream();
  const writer = new LineWriter(out);
  writer.send('lone'); // lines have come one by one so far: this one does not wait
  for (let i = 0; i < 100; i++) writer.send(`a${i}`);
  step();
  await tick();
  step();
  await tick();
  for (let i = 0; i < 100; i++) writer.send(`b${i}`); // now a burst is expected
  await tick();
  expect(writes.map((text) => text.split('\n').length - 1)).toEqual([1, 100, 100]);
});

test('a long burst begins to go out before it is over, as long as the stream takes it', async () => {
  const writes: number[] = [];
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.length);
      done();
    },
  });
  const writer = new LineWriter(out);
  for (let i = 0; i < 100; i++) writer.send('x'.repeat(199));
  expect(writes.length).toBeGreaterThan(5);
  await writer.end();
  expect(writes.reduce((sum, bytes) => sum + bytes, 0)).toBe(20_000);
  expect(writer.queuedBytes).toBe(0);
});

test('a line alone is written at once', () => {
  const { out, writes } = slowStream();
  new LineWriter(out).send('now');
  expect(writes).toEqual(['now\n']);
});

test('write settles when the line is handed over, not before', async () => {
  const { out, step } = slowStream();
  const writer = new LineWriter(out);
  let settled = false;
  const written = writer.write('x').then(() => (settled = true));
  await tick();
  expect(settled).toBe(false);
  expect(writer.queuedBytes).toBe(2);
  step();
  await written;
  expect(writer.queuedBytes).toBe(0);
});

test('above the high-water mark it is congested, until below the low one', async () => {
  const { out, step } = slowStream();
  const writer = new LineWriter(out, { highWaterBytes: 100, lowWaterBytes: 20 });
  await writer.drained();
  expect(writer.send('x'.repeat(60))).toBe(true);
  expect(writer.send('x'.repeat(60))).toBe(false);
  expect(writer.congested).toBe(true);
  let drained = false;
  const waiting = writer.drained().then(() => (drained = true));
  step(); // the first has gone, the second is still above the low mark
  await tick();
  expect(drained).toBe(false);
  step();
  await waiting;
  expect(writer.congested).toBe(false);
  expect(writer.send('y')).toBe(true);
});

test('past the cap a line is refused and nothing of it queued', async () => {
  const { out, step, writes } = slowStream();
  const writer = new LineWriter(out, { maxQueuedBytes: 100 });
  writer.send('x'.repeat(90));
  expect(() => writer.send('y'.repeat(20))).toThrow(QueueFullError);
  await expect(writer.write('y'.repeat(20))).rejects.toThrow(QueueFullError);
  expect(writer.queuedBytes).toBe(91);
  step();
  await tick();
  writer.send('z'.repeat(500)); // alone it may be of any size
  expect(writes.at(-1)).toHaveLength(501);
});

test.each([
  ['at', LOW_WATER_BYTES, false],
  ['above', LOW_WATER_BYTES + 1, true],
])(
  'unless told otherwise it is congested above 1 MiB, until at 256 KiB: %s that',
  async (_where, left, congested) => {
    const { out, step } = slowStream();
    const writer = new LineWriter(out);
    expect(writer.send('x'.repeat(HIGH_WATER_BYTES - 1))).toBe(true); // with its newline exactly the mark
    expect(writer.send('y'.repeat(left - 1))).toBe(false);
    step();
    await tick();
    expect([writer.queuedBytes, writer.congested]).toEqual([left, congested]);
    step();
    await writer.drained();
  },
);

test('unless told otherwise 256 MiB may be queued, and not one byte more', () => {
  const out = new Writable({ write: () => {} }); // takes the first write and never answers
  const writer = new LineWriter(out);
  const quarter = Buffer.alloc(MAX_QUEUED_BYTES / 4 - 1);
  for (let i = 0; i < 4; i++) writer.send(quarter);
  expect(writer.queuedBytes).toBe(MAX_QUEUED_BYTES);
  expect(() => writer.send('')).toThrow(QueueFullError);
  out.destroy();
});

test('every promise is rejected when the stream is destroyed in the middle of a write', async () => {
  const out = new PassThrough({ highWaterMark: 1 }); // destroyed mid-write it calls no callback at all
  const failures: Error[] = [];
  const writer = new LineWriter(out, { highWaterBytes: 1, onFailure: (reason) => failures.push(reason) });
  const waits = [writer.write('a'), writer.write('b'), writer.drained(), writer.end()];
  out.destroy();
  const results = await Promise.allSettled(waits);
  expect(results.map((result) => result.status)).toEqual(Array.from(waits, () => 'rejected'));
  await expect(writer.write('c')).rejects.toThrow('closed');
  await expect(writer.drained()).rejects.toThrow('closed');
  expect(writer.send('d')).toBe(false);
  expect(failures).toHaveLength(1);
  expect(writer.queuedBytes).toBe(0);
});

test('a reader that dies rejects what it did not take, and nothing is thrown', async () => {
  const child = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const failures: Error[] = [];
  const writer = new LineWriter(child.stdin, { onFailure: (reason) => failures.push(reason) });
  const big = writer.write('x'.repeat(4 * 1024 * 1024)); // more than a pipe holds
  const behind = writer.write('behind');
  child.kill('SIGKILL');
  await expect(big).rejects.toThrow(/EPIPE|closed/);
  await expect(behind).rejects.toThrow(/EPIPE|closed/);
  expect(failures).toHaveLength(1);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
});

test('a stream that is gone already refuses everything', async () => {
  const out = new PassThrough();
  out.destroy();
  const writer = new LineWriter(out);
  await expect(writer.write('x')).rejects.toThrow('closed');
  await expect(writer.end()).rejects.toThrow('closed');
});

test('end writes what is queued and then refuses more', async () => {
  const { out, writes, step } = slowStream();
  const failures: Error[] = [];
  const writer = new LineWriter(out, { onFailure: (reason) => failures.push(reason) });
  writer.send('a');
  writer.send('b');
  const ended = writer.end();
  expect(writer.end()).toBe(ended);
  expect(writer.send('late')).toBe(false);
  await expect(writer.write('late')).rejects.toThrow('closed');
  step();
  await tick();
  step();
  await ended;
  expect(writes.join('')).toBe('a\nb\n');
  expect(failures).toEqual([]);
});

test('a stream ended over its head is a failure it is told of', async () => {
  const out = new PassThrough().resume();
  const failures: Error[] = [];
  const writer = new LineWriter(out, { onFailure: (reason) => failures.push(reason) });
  out.end();
  await once(out, 'finish');
  await expect(writer.write('x')).rejects.toThrow('closed');
  expect(failures).toHaveLength(1);
});

test('whatever is sent and whenever the stream dies: order is kept and every promise settles', async () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 8 }).map((text) => text.replaceAll('\n', '')),
    fc.uint8Array({ maxLength: 8 }).map((bytes) => bytes.map((byte) => (byte === 10 ? 11 : byte))),
  );
  const line: fc.Arbitrary<Line> = fc.oneof(piece, fc.array(piece, { maxLength: 3 }));
  const step = fc.record({ line, pause: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), fc.option(fc.nat(20)), async (steps, deathAt) => {
      const taken: Buffer[] = [];
      const out = new Writable({
        highWaterMark: 16,
        write(chunk: Buffer, _encoding, done) {
          taken.push(chunk);
          if (chunk.length % 3 === 0) done();
          else setImmediate(done);
        },
      });
      const writer = new LineWriter(out, { highWaterBytes: 32, lowWaterBytes: 8 });
      const waits: Promise<boolean>[] = [];
      const settles = (wait: Promise<void>): void =>
        void waits.push(
          wait.then(
            () => true,
            () => false,
          ),
        );
      const sent: Buffer[] = [];
      for (const [i, { line, pause }] of steps.entries()) {
        if (i === deathAt) out.destroy();
        if (!out.destroyed) sent.push(toBytes(line), Buffer.from('\n'));
        settles(writer.write(line));
        settles(writer.drained());
        if (pause) await tick();
      }
      settles(writer.end());
      const results = await Promise.all(waits);
      const all = Buffer.concat(sent);
      const got = Buffer.concat(taken);
      expect(all.subarray(0, got.length).equals(got)).toBe(true);
      const survived = deathAt === null || deathAt >= steps.length;
      expect(survived && (results.includes(false) || got.length !== all.length)).toBe(false);
    }),
    { numRuns: runs(1000) },
  );
});

function toBytes(line: Line): Buffer {
  if (typeof line === 'string' || line instanceof Uint8Array) return Buffer.from(line as string);
  return Buffer.concat(line.map((piece) => Buffer.from(piece as string)));
}

/** A sink that takes at most so many bytes at a time by the direct way; `all` is what came, in whatever way. */
function directSink(room: (call: number) => number) {
  const all: Buffer[] = [];
  const direct: string[] = [];
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      all.push(chunk);
      setImmediate(done);
    },
  });
  const writeNow = (bytes: Uint8Array): number => {
    const taken = Buffer.from(bytes.subarray(0, room(direct.length)));
    direct.push(String(taken));
    all.push(taken);
    return taken.length;
  };
  return { out, writeNow, direct, text: () => Buffer.concat(all).toString() };
}

test('what there is room for goes past the stream, and is handed over at once', async () => {
  const sink = directSink(() => Number.POSITIVE_INFINITY);
  const writer = new LineWriter(sink.out, { writeNow: sink.writeNow });
  await writer.write('one');
  expect(writer.queuedBytes).toBe(0);
  await writer.write(['t', Buffer.from('wo')]);
  expect(sink.direct).toEqual(['one\n', 'two\n']);
  await writer.end();
  expect(sink.text()).toBe('one\ntwo\n');
});

test('lines of one tick join into one write past the stream too', async () => {
  const sink = directSink(() => Number.POSITIVE_INFINITY);
  const writer = new LineWriter(sink.out, { writeNow: sink.writeNow });
  for (const line of ['a', 'b', 'c', 'd']) writer.send(line);
  await tick();
  for (const line of ['e', 'f', 'g']) writer.send(line);
  await tick();
  expect(sink.direct).toEqual(['a\n', 'b\nc\nd\n', 'e\nf\ng\n']);
});

test('what is longer than the direct way takes goes by the stream', async () => {
  const sink = directSink(() => Number.POSITIVE_INFINITY);
  const writer = new LineWriter(sink.out, { writeNow: sink.writeNow });
  await writer.write('x'.repeat(MAX_DIRECT_BYTES - 1));
  await writer.write('y'.repeat(MAX_DIRECT_BYTES));
  expect(sink.direct.map((each) => each.length)).toEqual([MAX_DIRECT_BYTES]);
  expect(sink.text().length).toBe(2 * MAX_DIRECT_BYTES + 1);
});

test('however little is taken directly, every byte goes out once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ line: fc.string({ maxLength: 40 }), pause: fc.boolean() }), { maxLength: 30 }),
      fc.array(fc.nat(60), { minLength: 1, maxLength: 8 }),
      async (sends, rooms) => {
        const sink = directSink((call) => rooms[call % rooms.length] ?? 0);
        const writer = new LineWriter(sink.out, { writeNow: sink.writeNow });
        const lines = sends.map(({ line }) => line.replaceAll('\n', ' '));
        for (const [i, { pause }] of sends.entries()) {
          const line = lines[i] ?? '';
          writer.send(i % 3 === 0 ? Buffer.from(line) : line);
          if (pause) await tick();
        }
        await writer.end();
        expect(sink.text()).toBe(lines.map((line) => `${line}\n`).join(''));
      },
    ),
  );
});
