// A million lines, valid and damaged: the scanner says what JSON.parse says, of each of them. HAWSER_FUZZ_MS: how long it may take.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byJsonParse, byScanner } from '../unit/bus/scan/expected-fields.js';
import { validLine } from '../unit/bus/scan/random-lines.js';

const LINES = 1_000_000;
/** However long they take. */
const LEAST = 50_000;
const TIME_MS = Number(process.env['HAWSER_FUZZ_MS'] ?? 30_000);
const SEED = 20_261_116;

test(
  'a million lines, as far as half a minute goes',
  () => {
    const seeds = fc.sample(validLine, { numRuns: 1500, seed: SEED });
    const random = numbers(SEED);
    const end = Date.now() + TIME_MS;
    let lines = 0;
    let valid = 0;
    while (lines < LINES && (Date.now() < end || lines <= LEAST)) {
      const line = damage(seeds[lines % seeds.length]!, random);
      const expected = byJsonParse(line);
      const found = byScanner(line, lines & 3);
      if (JSON.stringify(found) !== JSON.stringify(expected))
        throw new Error(`not the same: ${line.toString('latin1')}`);
      lines += 1;
      if (expected !== undefined) valid += 1;
    }
    if (process.env['HAWSER_FUZZ_MS'] !== undefined) process.stdout.write(`${lines} lines, ${valid} valid\n`);
    expect(lines).toBeGreaterThan(LEAST);
    expect(valid).toBeGreaterThan(lines / 20);
    expect(valid).toBeLessThan(lines);
  },
  TIME_MS + 300_000,
);

const BYTES = Buffer.from('{}[]",:\\0123456789-+.eEtrufalsn xX/id\t\r\0\u001f\u007fé');

/** None to three bytes changed, put in or taken out. */
function damage(line: Buffer, random: (below: number) => number): Buffer {
  const bytes = [...line];
  for (let changes = random(4); changes > 0; changes -= 1) {
    const at = random(bytes.length + 1);
    const byte = random(4) === 0 ? random(256) : BYTES[random(BYTES.length)]!;
    const how = random(3);
    if (how === 0) bytes[at] = byte;
    else if (how === 1) bytes.splice(at, 1);
    else bytes.splice(at, 0, byte);
  }
  return Buffer.from(bytes.filter((byte) => byte !== 10));
}

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}
