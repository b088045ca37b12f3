// The byte-keyed table does what a map of queues does, however it grows.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteTable, INLINE_KEY_BYTES } from '../../../../src/bus/table/byte-table.js';

const hashOf = (key: Buffer): number => key.reduce((sum, byte) => (sum * 3 + byte) & 7, 0); // collides on purpose

test('equal keys come out in the order they went in, as from a map of queues', () => {
  const key = fc.constantFrom(
    'a',
    'b',
    'ab',
    '',
    'x'.repeat(INLINE_KEY_BYTES),
    'x'.repeat(INLINE_KEY_BYTES + 1),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), key, fc.nat(2)), { maxLength: 1500 }), (steps) => {
      const table = new ByteTable<number>();
      const model = new Map<string, number[]>();
      steps.forEach(([put, text, tag], step) => {
        const bytes = Buffer.from(text);
        const queue = model.get(`${tag} ${text}`) ?? [];
        model.set(`${tag} ${text}`, queue);
        if (put) {
          table.add(bytes, 0, bytes.length, hashOf(bytes), tag, step);
          queue.push(step);
          return;
        }
        const entry = table.find(bytes, 0, bytes.length, hashOf(bytes), tag);
        expect(entry < 0 ? undefined : table.valueAt(entry)).toBe(queue.shift());
        if (entry < 0) return;
        expect([table.keyAt(entry).toString(), table.tagAt(entry)]).toEqual([text, tag]);
        table.remove(entry);
      });
      expect(table.size).toBe([...model.values()].reduce((sum, queue) => sum + queue.length, 0));
    }),
    { numRuns: 60 },
  );
});

test('a hundred thousand entries are all found, and can all be removed while they are walked', () => {
  const table = new ByteTable<number>();
  const keys = Array.from({ length: 100_000 }, (_, i) => Buffer.from(`"key-${i}"`));
  keys.forEach((key, i) => table.add(key, 0, key.length, i * 7919, i & 3, i));
  keys.forEach((key, i) => expect(table.valueAt(table.find(key, 0, key.length, i * 7919, i & 3))).toBe(i));
  let seen = 0;
  table.forEach((entry, value) => {
    seen += value;
    table.remove(entry);
  });
  expect([seen, table.size]).toEqual([4_999_950_000, 0]);
});

test('half a million times the same key takes no longer than as many different ones', () => {
  const times = 500_000; // minutes, if each of them were looked for among all others
  const table = new ByteTable<number>();
  const key = Buffer.from('1');
  for (let i = 0; i < times; i += 1) table.add(key, 0, 1, 5, 1, i);
  for (let i = 0; i < times; i += 1) {
    const entry = table.find(key, 0, 1, 5, 1);
    if (table.valueAt(entry) !== i) throw new Error(`not in order at ${i}`);
    table.remove(entry);
  }
  expect(table.size).toBe(0);
}, 60_000);
