// Compression of a link: the same bytes in the same order, at once, in bounded memory, whatever is sent.

import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deflateRawSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFLATE_MARKER, DeflateSink, WORTH_BYTES } from '../../../../src/wire/transport/deflate-sink.js';
import { deflateLink } from '../../../../src/wire/transport/deflate-link.js';
import { InflateSource, MAX_COMPRESSED_BYTES } from '../../../../src/wire/transport/inflate-source.js';
import { LineWriter } from '../../../../src/wire/ndjson/line-writer.js';
import { until } from '../../../helpers/wait.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What is in use: what nobody uses any more is collected when there is time for it, and that is not what is asked. */
function heldBytes(): number {
  collect();
  collect(); // frees what the first has found
  return process.memoryUsage().arrayBuffers;
}

/** What is written to the sink comes out of `source`; `wire` is what passes between. */
function pair(adaptive = false, highWaterMark = 16 * 1024) {
  const wire = new PassThrough({ highWaterMark });
  const sink = new DeflateSink(wire);
  sink.allow(adaptive);
  const source = new InflateSource(wire, true);
  const received: Buffer[] = [];
  let ended = false;
  source.on('data', (chunk: Buffer) => received.push(chunk));
  source.on('end', () => (ended = true));
  const text = (): string => Buffer.concat(received).toString('utf8');
  const over = async (): Promise<string> => {
    await until(() => ended, 'the end');
    sink.dispose();
    source.dispose();
    return text();
  };
  return { wire, sink, source, text, over };
}

test('lines of any lengths, in any bursts, arrive as they were sent', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.tuple(fc.nat(9), fc.string()), { maxLength: 8 }), { maxLength: 12 }),
      fc.boolean(),
      async (bursts, adaptive) => {
        const { sink, over } = pair(adaptive);
        const writer = new LineWriter(sink);
        let sent = '';
        for (const burst of bursts) {
          for (const [size, word] of burst) {
            const line = JSON.stringify({ jsonrpc: '2.0', method: word.repeat(size ** 4 / 8) });
            writer.send(line);
            sent += `${line}\n`;
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
        await writer.end();
        expect(await over()).toBe(sent);
      },
    ),
    { numRuns: 100 },
  );
});

test('what is short goes as it is; from what is longer on, less is sent', async () => {
  const { wire, sink, over } = pair();
  let sent = '';
  let wired = 0;
  wire.on('data', (chunk: Buffer) => (wired += chunk.length));
  const writer = new LineWriter(sink);
  const line = (n: number): string =>
    `{"jsonrpc":"2.0","id":${n},"result":{"text":"${'word '.repeat(2000)}"}}`;
  await writer.write('{"jsonrpc":"2.0","id":0,"result":1}');
  expect(wired).toBe(36);
  sent += '{"jsonrpc":"2.0","id":0,"result":1}\n';
  for (let n = 0; n < 100; n++) {
    await writer.write(line(n));
    sent += `${line(n)}\n`;
  }
  await writer.end();
  expect(await over()).toBe(sent);
  expect(wired).toBeLessThan(sent.length / 10);
  expect(sink.totals).toMatchObject({ rawBytes: sent.length, level: 1 });
});

test('a prompt arrives at once, without anything after it', async () => {
  const { sink, text, over } = pair();
  const writer = new LineWriter(sink);
  await writer.write(`{"jsonrpc":"2.0","method":"${'x'.repeat(WORTH_BYTES)}"}`);
  await until(() => sink.totals.level > 0, 'compressing to begin');
  for (const prompt of ['{"name? ":1}', '{"password: ":2}']) {
    writer.send(prompt);
    await until(() => text().endsWith(`${prompt}\n`), 'the prompt');
  }
  await writer.end();
  expect(await over()).toContain('password');
});

test('the marker is found wherever the wire is cut, and only as a whole line', async () => {
  const inside = `{"a":${JSON.stringify(DEFLATE_MARKER.toString())}} ${DEFLATE_MARKER.toString()}`;
  const stream = Buffer.concat([
    Buffer.from(`{"first":1}\n${inside}{"second":2}\n`),
    DEFLATE_MARKER,
    deflateRawSync('{"third":3}\n'),
    Buffer.from('{"fourth":4}\n'),
    DEFLATE_MARKER,
    deflateRawSync('{"fifth":5}\n'),
    DEFLATE_MARKER,
    deflateRawSync('{"sixth":6}\n'),
  ]);
  const expected = `{"first":1}\n${inside}{"second":2}\n{"third":3}\n{"fourth":4}\n{"fifth":5}\n{"sixth":6}\n`;
  for (const size of [1, 2, 3, 7, 16, 50, 64, 100, 1000]) {
    const wire = new PassThrough();
    const source = new InflateSource(wire, true);
    let got = '';
    let ended = false;
    source.on('data', (chunk: Buffer) => (got += chunk.toString()));
    source.on('end', () => (ended = true));
    for (let at = 0; at < stream.length; at += size) wire.write(stream.subarray(at, at + size));
    wire.end();
    await until(() => ended, 'the end');
    expect(got).toBe(expected);
    source.dispose();
  }
});

test('whoever does not watch for it gets the marker as the line it is', async () => {
  const wire = new PassThrough();
  const source = new InflateSource(wire, false);
  let got = '';
  source.on('data', (chunk: Buffer) => (got += chunk.toString()));
  wire.write(DEFLATE_MARKER);
  await until(() => got === DEFLATE_MARKER.toString(), 'the line');
  expect(got).toContain('session.deflate');
});

test('megabytes of nothing in a few bytes is passed on in pieces, and not while the reader is paused', async () => {
  const wire = new PassThrough();
  const source = new InflateSource(wire, true);
  let got = 0;
  let largest = 0;
  source.on('data', (chunk: Buffer) => {
    got += chunk.length;
    largest = Math.max(largest, chunk.length);
    if (got < 1024 * 1024) source.pause();
  });
  const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
  const before = heldBytes();
  wire.write(DEFLATE_MARKER);
  wire.end(bomb);
  await until(() => got > 0, 'the first piece');
  await new Promise((resolve) => setTimeout(resolve, 50)); // nothing may come, and nothing announces that
  expect(got).toBeLessThan(1024 * 1024);
  expect(heldBytes() - before).toBeLessThan(8 * 1024 * 1024);
  let looked = 0;
  let most = 0;
  const isWhole = (): boolean => {
    source.resume();
    if (got - looked > 8 * 1024 * 1024) {
      looked = got;
      most = Math.max(most, heldBytes() - before);
    }
    return got === 64 * 1024 * 1024;
  };
  await until(isWhole, 'all of it', 60_000);
  expect(largest).toBeLessThanOrEqual(64 * 1024);
  expect(most).toBeLessThan(8 * 1024 * 1024);
  source.dispose();
});

test('what was compressed and waits to be read has a cap: past it nothing more is taken', async () => {
  const wire = new PassThrough({ highWaterMark: 1024 });
  const source = new InflateSource(wire, true);
  source.on('data', () => source.pause());
  wire.write(DEFLATE_MARKER);
  const noise = deflateRawSync(Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => (i * i * 31) >> 3)), {
    level: 0,
  });
  let taken = 0;
  for (let at = 0; at < noise.length; at += 1024) {
    if (wire.write(noise.subarray(at, at + 1024))) taken += 1024;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(wire.isPaused()).toBe(true);
  expect(taken).toBeLessThan(2 * MAX_COMPRESSED_BYTES);
  source.dispose();
});

test('what is no deflate is an error, and no more than that', async () => {
  const wire = new PassThrough();
  const source = new InflateSource(wire, true);
  const errors: Error[] = [];
  source.on('error', (error) => errors.push(error));
  source.on('data', () => {});
  wire.write(Buffer.concat([DEFLATE_MARKER, Buffer.from('{"jsonrpc":"2.0"}\n'.repeat(20))]));
  await until(() => errors.length > 0, 'the error');
  expect(errors[0]).toMatchObject({ code: 'bad_compression' });
  source.dispose();
});

test('a source that is given up in the middle of a piece says nothing more', async () => {
  const wire = new PassThrough();
  const source = new InflateSource(wire, true);
  const plain = Buffer.from('{"jsonrpc":"2.0"}\n'.repeat(200_000));
  let seen = 0;
  source.on('data', (bytes: Buffer) => {
    seen += bytes.length;
    source.dispose(); // nobody listens to errors here: one that was told would be an uncaught one
  });
  wire.write(Buffer.concat([DEFLATE_MARKER, deflateRawSync(plain)]));
  await until(() => seen > 0, 'the first bytes');
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toBeLessThan(plain.length);
});

test('a link that takes nothing holds the writer up; one that breaks fails it', async () => {
  const wire = new PassThrough({ highWaterMark: 1024 });
  const compressed = deflateLink({
    input: new PassThrough(),
    output: wire,
    name: 'x',
    close: async () => {},
  });
  const { link } = compressed;
  compressed.allow(false);
  const writer = new LineWriter(link.output, { highWaterBytes: 64 * 1024 });
  let room = true;
  for (let n = 0; n < 200 && room; n++) {
    room = writer.send(JSON.stringify({ n, noise: Math.sin(n).toString().repeat(200) }));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(room).toBe(false);
  const drained = writer.drained();
  wire.destroy(new Error('gone'));
  await expect(drained).rejects.toThrow('gone');
  await link.close();
});
