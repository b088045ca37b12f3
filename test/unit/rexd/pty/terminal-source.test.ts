import fc from 'fast-check';
import { expect, test } from 'vitest';
import { terminalSource } from '../../../../src/rexd/pty/terminal-source.js';

test('whatever the pieces a terminal gives, all of it is taken once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.integer({ min: 1, max: 50 }),
      async (bytes, most) => {
        const all = Buffer.from(bytes);
        const source = terminalSource({
          read: async (at) =>
            at >= all.length ? undefined : { at, data: all.subarray(at, at + most), lost: 0 },
        });
        const parts: Buffer[] = [];
        for (let part = await source.read(); part !== undefined; part = await source.read()) parts.push(part);
        expect(Buffer.concat(parts)).toEqual(all);
      },
    ),
  );
});
