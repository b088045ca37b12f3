import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { copyPath } from '../../../../src/host/files/copy.js';
import { COPY_SLICE_BYTES } from '../../../../src/host/files/copy-bytes.js';
import { until } from '../../../helpers/wait.js';
import { makeSandbox } from './sandbox.js';

/** Bytes this process has written so far, to whatever. */
function written(): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

test.each([COPY_SLICE_BYTES, COPY_SLICE_BYTES + 1, 2 * COPY_SLICE_BYTES, 2 * COPY_SLICE_BYTES + 777])(
  'a file of %i bytes is copied whole',
  async (size) => {
    using box = makeSandbox();
    const content = Buffer.alloc(size, 'some text to tell one slice from the next, ');
    await copyPath(box.set, box.file('a', content), box.at('b'), { durable: false });
    expect(readFileSync(box.at('b')).equals(content)).toBe(true);
  },
);

test('a copy that is called off inside a file writes no more of it, and leaves nothing', async () => {
  using box = makeSandbox();
  const size = 256 * COPY_SLICE_BYTES;
  truncateSync(box.file('a'), size);
  const caller = new AbortController();
  const before = written();
  const copy = copyPath(box.set, box.at('a'), box.at('b'), { durable: false, signal: caller.signal });
  const outcome = copy.catch((thrown: unknown) => thrown);
  await until(() => written() - before >= 2 * COPY_SLICE_BYTES, 'the first slices');
  caller.abort(new Error('called off'));
  expect(await outcome).toMatchObject({ message: 'called off' });
  expect(written() - before).toBeLessThan(size / 2);
  expect(existsSync(box.at('b'))).toBe(false);
});
