// Noise before the protocol: passed over, remembered, and named when nothing else comes.

import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_NOISE_BYTES, NoiseError, SkipNoise } from '../../../src/client/rex/skip-noise.js';
import { MAX_LINE_BYTES } from '../../../src/wire/ndjson/line-splitter.js';
import { runs } from '../../helpers/runs.js';

const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{}}\n';

/** Cuts `bytes` wherever the numbers say. */
function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = (sizes[i % sizes.length] ?? 0) + 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const line = fc.oneof(
  fc.string(),
  fc.constantFrom(
    'Welcome to server-a',
    '{"motd":true}',
    '[1,2]',
    '{',
    '{"jsonrpc":"1.0"}',
    '\u001b[32mhi\u001b[0m',
  ),
);

test('whatever is printed before the first message, the protocol comes through byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.uint8Array(),
      fc.array(fc.nat(50), { minLength: 1 }),
      async (noise, rest, sizes) => {
        const printed = noise.map((each) => `${each.replaceAll('\n', ' ')}\n`).join('');
        const bytes = Buffer.concat([Buffer.from(printed), Buffer.from(ANSWER), rest]);
        const filter = new SkipNoise();
        const passed = await buffer(Readable.from(cut(bytes, sizes)).pipe(filter));
        expect(passed).toEqual(Buffer.concat([Buffer.from(ANSWER), rest]));
        expect(filter.noise).toBe(Buffer.from(printed).toString('utf8'));
      },
    ),
    { numRuns: runs(300) },
  );
});

test('a greeting without a newline before the first message is noise too', async () => {
  const filter = new SkipNoise();
  const passed = await buffer(Readable.from([Buffer.from(`hi {"a":1} ${ANSWER}more`)]).pipe(filter));
  expect(passed.toString()).toBe(`${ANSWER}more`);
  expect(filter.noise).toBe('hi {"a":1} ');
});

async function failure(text: string): Promise<NoiseError> {
  const filter = new SkipNoise();
  Readable.from([Buffer.from(text)]).pipe(filter);
  filter.resume();
  const [error] = (await once(filter, 'error')) as [NoiseError];
  return error;
}

test('a connection that ends in noise says what it printed', async () => {
  const error = await failure('bash: rexd: command not found\n');
  expect(error).toBeInstanceOf(NoiseError);
  expect(error.message).toContain('bash: rexd: command not found');
});

test('noise has a cap', async () => {
  const error = await failure('x'.repeat(MAX_NOISE_BYTES + 1));
  expect(error.message).toContain('does not speak REXD');
});

test('a first answer longer than the cap is no noise', async () => {
  const long = `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify('x'.repeat(MAX_NOISE_BYTES * 2))}}\n`;
  const passed = await buffer(Readable.from(cut(Buffer.from(long), [999])).pipe(new SkipNoise()));
  expect(passed.toString()).toBe(long);
});

test('a first answer that never ends has a cap too', async () => {
  const error = await failure(`{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(MAX_LINE_BYTES)}`);
  expect(error.tooMuch).toBe(true);
});
