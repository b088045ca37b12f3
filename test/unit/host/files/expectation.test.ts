import { truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConflictError } from '../../../../src/host/files/errors.js';
import { MAX_TOLD_BYTES } from '../../../../src/host/files/expectation.js';
import { writeFile } from '../../../../src/host/files/write.js';
import { makeSandbox } from './sandbox.js';

test.each([true, false])(
  `a conflict tells the sum of up to ${MAX_TOLD_BYTES} bytes (atomic %s)`,
  async (atomic) => {
    using box = makeSandbox();
    const path = box.file('file');
    for (const [size, isTold] of [
      [MAX_TOLD_BYTES, true],
      [MAX_TOLD_BYTES + 1, false],
    ] as const) {
      truncateSync(path, size);
      const refusal = await writeFile(box.set, path, Buffer.from('x'), {
        expect: { mtimeMs: 1 },
        atomic,
      }).catch((error: unknown) => error as ConflictError);
      expect(refusal).toMatchObject({ name: 'ConflictError', current: { size } });
      expect(refusal instanceof ConflictError && refusal.current?.sha256 !== undefined).toBe(isTold);
    }
  },
);
