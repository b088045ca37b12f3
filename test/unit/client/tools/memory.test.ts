// What the tools remember: long outputs, versions of files, turns, the last line.

import { expect, test } from 'vitest';
import {
  KeptOutputs,
  MAX_ALL_OUTPUT_BYTES,
  MAX_KEPT_OUTPUT_BYTES,
} from '../../../../src/client/rex/tools/kept-outputs.js';
import { LastLine, MAX_LAST_LINE_CHARS } from '../../../../src/client/rex/tools/last-line.js';
import { MAX_SEEN_FILES, SeenFiles } from '../../../../src/client/rex/tools/seen-files.js';
import { Slots } from '../../../../src/client/rex/tools/slots.js';

function keep(outputs: KeptOutputs, bytes: number): string {
  const collector = outputs.collect();
  collector.push(Buffer.alloc(bytes, 'x'));
  collector.push(Buffer.from('the end'));
  return collector.keep();
}

test('an output is found by its name, up to MAX_KEPT_OUTPUT_BYTES of it', () => {
  const outputs = new KeptOutputs();
  const [short, long] = [keep(outputs, 3), keep(outputs, MAX_KEPT_OUTPUT_BYTES)];
  expect(outputs.find(short)?.toString()).toBe('xxxthe end');
  expect(outputs.find(long)).toHaveLength(MAX_KEPT_OUTPUT_BYTES);
  expect(outputs.find('output:77')).toBe('gone');
  for (const file of ['a.txt', 'output:x', './output:1', 'output:'])
    expect(outputs.find(file)).toBeUndefined();
});

test('past MAX_ALL_OUTPUT_BYTES the oldest is let go', () => {
  const outputs = new KeptOutputs();
  const count = MAX_ALL_OUTPUT_BYTES / MAX_KEPT_OUTPUT_BYTES;
  const names = Array.from({ length: count + 1 }, () => keep(outputs, MAX_KEPT_OUTPUT_BYTES));
  expect(names.map((name) => outputs.find(name) === 'gone')).toEqual([
    true,
    ...names.slice(1).map(() => false),
  ]);
});

test('a change after a command may be the agent’s own, one without is not', () => {
  const seen = new SeenFiles();
  seen.see('a', 1);
  expect([seen.mtimeOf('a'), seen.mayBeOwnChange('a')]).toEqual([1, false]);
  seen.ranCommand();
  expect(seen.mayBeOwnChange('a')).toBe(true);
  seen.see('a', 2);
  expect(seen.mayBeOwnChange('a')).toBe(false);
});

test('MAX_SEEN_FILES versions are remembered, the latest ones', () => {
  const seen = new SeenFiles();
  for (let i = 0; i <= MAX_SEEN_FILES; i++) seen.see(`f${i}`, i);
  expect([seen.mtimeOf('f0'), seen.mtimeOf('f1')]).toEqual([undefined, 1]);
});

test('so many at once, the others in order, and one that gives up leaves the queue', async () => {
  const slots = new Slots(2, 3);
  const done: number[] = [];
  const ends: (() => void)[] = [];
  const signal = new AbortController().signal;
  const task = (i: number, by = signal) =>
    slots.run(async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      done.push(i);
    }, by);
  const abort = new AbortController();
  const tasks = [task(0), task(1), task(2), task(3, abort.signal), task(4)];
  await expect(task(5)).rejects.toThrow('full');
  expect([ends.length, slots.waiting]).toEqual([2, 3]);
  abort.abort(new Error('gave up'));
  await expect(tasks[3]).rejects.toThrow('gave up');
  const left = tasks.filter((_, i) => i !== 3);
  while (done.length < 4) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(left);
  expect(done).toEqual([0, 1, 2, 4]);
});

test('the last line is what stands there now, without colours, no longer than MAX_LAST_LINE_CHARS', () => {
  const last = new LastLine();
  last.push(Buffer.from('first\nsecond\n\n'));
  expect(last.text).toBe('second');
  last.push(Buffer.from('10 %\r\u001B[32m50 %\u001B[0m\r'));
  expect(last.text).toBe('50 %');
  last.push(Buffer.alloc(100_000, 'z'));
  expect(last.text).toBe('z'.repeat(MAX_LAST_LINE_CHARS));
});
