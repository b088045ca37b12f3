import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteFinder, Needle, STEP_BYTES } from '../../../../src/host/files/byte-finder.js';
import { growthOf, isInStep } from '../../guard/cost-growth.js';
import { runs } from '../../../helpers/runs.js';

/** Places that do not overlap, and how many pauses there were. */
function places(content: Buffer, needle: Uint8Array): { found: number[]; pauses: number } {
  const finder = new ByteFinder(content, new Needle(needle));
  const found: number[] = [];
  let pauses = 0;
  for (let at = finder.next(); at !== undefined; at = finder.next()) {
    if (at === 'pause') pauses += 1;
    else {
      found.push(at);
      finder.seek(at + needle.length);
    }
  }
  return { found, pauses };
}

function byIndexOf(content: Buffer, needle: Uint8Array): number[] {
  const found: number[] = [];
  for (let at = content.indexOf(needle); at !== -1; at = content.indexOf(needle, at + needle.length))
    found.push(at);
  return found;
}

test('finds what indexOf finds, of few letters and of many', () => {
  const few = fc.array(fc.constantFrom(97, 98), { maxLength: 300 });
  const needle = fc.array(fc.constantFrom(97, 98), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(few, needle, fc.integer({ min: 1, max: 600 }), (text, wanted, times) => {
      const content = Buffer.concat(Array.from({ length: times }, () => Buffer.from(text)));
      const bytes = Uint8Array.from(wanted);
      expect(places(content, bytes).found).toEqual(byIndexOf(content, bytes));
    }),
    { numRuns: runs(500) },
  );
});

test.each([
  ['across the edges of steps', 'x'.repeat(STEP_BYTES - 3), 'needle', 5],
  ['longer than its head', 'x'.repeat(1000), `${'ab'.repeat(40)}c`, 300],
  ['everywhere', '', 'a', 3 * STEP_BYTES],
  ['in pairs', 'a', 'aa', STEP_BYTES],
  ['nearly everywhere, and once whole', `${'a'.repeat(40)}b`.repeat(20_000), `${'a'.repeat(41)}b`, 1],
])('finds a text that is %s', (_, between, needle, times) => {
  const content = Buffer.from(`${between}${needle}`.repeat(times));
  expect(places(content, Buffer.from(needle)).found).toEqual(byIndexOf(content, Buffer.from(needle)));
});

test('pauses at least once in every step', () => {
  for (const needle of ['a', 'ab', `${'a'.repeat(3000)}b`]) {
    const { pauses } = places(Buffer.alloc(20 * STEP_BYTES, 'a'), Buffer.from(needle));
    expect(pauses, needle.slice(0, 3)).toBeGreaterThanOrEqual(19);
  }
});

test('takes time in step with the bytes, whatever is looked for', () => {
  const run = (length: number): void => {
    const needle = Buffer.alloc(length / 2, 'a');
    needle[length / 4] = 98;
    places(Buffer.alloc(length, 'a'), needle);
  };
  expect(isInStep(growthOf(run, 512 * 1024))).toBe(true);
});
