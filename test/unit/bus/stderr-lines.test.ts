// What workers print on stderr, cut and thinned out.

import { expect, test, vi } from 'vitest';
import {
  MAX_STDERR_BYTES,
  MAX_STDERR_LINE_BYTES,
  passOnStderr,
} from '../../../src/bus/workers/stderr-lines.js';

async function pass(chunks: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  async function* stderr(): AsyncGenerator<Buffer, void> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  await passOnStderr(stderr(), (line) => void lines.push(line));
  return lines;
}

test('lines come whole, however they are cut, and the last one without its end', async () => {
  expect(await pass(['on', 'e\ntwo\r\n', '\nthr', 'ee'])).toEqual(['one', 'two', '', 'three']);
});

test('a line past MAX_STDERR_LINE_BYTES is cut, and the next one comes', async () => {
  const lines = await pass([`${'x'.repeat(MAX_STDERR_LINE_BYTES + 1)}\nnext\n`]);
  expect(lines[0]).toMatch(/^x+… \(a line that is too long was cut\)$/);
  expect(lines[0]?.length).toBeLessThan(MAX_STDERR_LINE_BYTES);
  expect(lines[1]).toBe('next');
});

test('more than MAX_STDERR_BYTES in a second is left out and counted', async () => {
  using clock = vi.spyOn(performance, 'now').mockReturnValue(5000); // all of it in the same second, however long it takes
  const line = `${'x'.repeat(1023)}\n`;
  const lines = await pass(Array.from({ length: MAX_STDERR_BYTES / 1024 + 5 }, () => line));
  expect(clock).toHaveBeenCalled();
  expect(lines).toHaveLength(MAX_STDERR_BYTES / 1024 + 1);
  expect(lines.at(-1)).toBe('… 5 lines were left out: too many in one second');
});
