// Our input on its way to a process: in order, in bounds, and no further than it is wanted.

import { expect, test } from 'vitest';
import { RpcError } from '../../../../src/base/errors.js';
import { MAX_INPUT_IN_FLIGHT_BYTES, pumpInput } from '../../../../src/cli/rex/pump-input.js';
import { untilEscape } from '../../../../src/cli/rex/until-escape.js';

async function* chunks(count: number, bytes = 64 * 1024): AsyncGenerator<Buffer> {
  for (let i = 0; i < count; i++) yield Buffer.alloc(bytes, i);
  await Promise.resolve();
}

test('no more than MAX_INPUT_IN_FLIGHT_BYTES are on their way at once, in order, and the end comes last', async () => {
  const seen: string[] = [];
  let [inFlight, most] = [0, 0];
  await pumpInput(chunks(100), {
    write: async (bytes) => {
      inFlight += bytes.length;
      most = Math.max(most, inFlight);
      seen.push(String((bytes as Buffer)[0]));
      await new Promise((resolve) => setImmediate(resolve));
      inFlight -= bytes.length;
    },
    endInput: () => Promise.resolve(void seen.push('end')),
  });
  expect(seen).toEqual([...Array.from({ length: 100 }, (_, i) => String(i)), 'end']);
  expect(most).toBeLessThanOrEqual(MAX_INPUT_IN_FLIGHT_BYTES);
  expect(most).toBeGreaterThan(MAX_INPUT_IN_FLIGHT_BYTES / 2);
});

test('a process that has ended is sent nothing more', async () => {
  let writes = 0;
  await pumpInput(chunks(1000), {
    write: () => {
      writes += 1;
      return Promise.reject(new RpcError(-32005, 'gone'));
    },
    endInput: () => Promise.reject(new Error('not asked for')),
  });
  expect(writes).toBeLessThan(50);
});

test('one that is slow to read is waited for: what was taken is not sent again, what was not is', async () => {
  const answers = [
    new RpcError(-32003, 'taken, but late'),
    new RpcError(-32008, 'full'),
    undefined,
    undefined,
  ];
  const seen: number[] = [];
  let at = 0;
  await pumpInput(chunks(3, MAX_INPUT_IN_FLIGHT_BYTES), {
    write: (bytes) => {
      seen.push((bytes as Buffer)[0] ?? -1);
      const answer = answers[at++];
      return answer === undefined ? Promise.resolve() : Promise.reject(answer);
    },
    endInput: () => Promise.resolve(),
  });
  expect(seen).toEqual([0, 1, 1, 2]);
});

async function typed(...parts: string[]): Promise<[string, boolean]> {
  let escaped = false;
  let passed = '';
  const source = (async function* () {
    for (const part of parts) yield Buffer.from(part);
    await Promise.resolve();
  })();
  for await (const bytes of untilEscape(source, () => (escaped = true))) passed += bytes.toString();
  return [passed, escaped];
}

test('Enter, ~ and . leaves; a ~ anywhere else is a ~', async () => {
  expect(await typed('ls\r', '~', '.')).toEqual(['ls\r', true]);
  expect(await typed('~.')).toEqual(['', true]);
  expect(await typed('a~.\r')).toEqual(['a~.\r', false]);
  expect(await typed('\r~~.')).toEqual(['\r~.', false]);
  expect(await typed('\r~a')).toEqual(['\r~a', false]);
});
