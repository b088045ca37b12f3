import { posix as node } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { posix as ours } from '../../../../src/host/runtime/bun-path.js';
import { runs } from '../../../helpers/runs.js';

const path = fc
  .array(fc.constantFrom('/', '/', '.', '..', 'a', 'b c', '\udcff', 'é'), { maxLength: 9 })
  .map((parts) => parts.join(''));

test('paths are what they are to Node, also with names that are not Unicode', () => {
  fc.assert(
    fc.property(path, path, (a, b) => {
      for (const name of ['normalize', 'dirname', 'basename'] as const)
        expect(ours[name](a), `${name} ${a}`).toBe(node[name](a));
      expect(ours.join(a, b)).toBe(node.join(a, b));
      expect(ours.relative(a, b)).toBe(node.relative(a, b));
      expect(ours.resolve(a, b)).toBe(node.resolve(a, b));
    }),
    { numRuns: runs(2000) },
  );
  expect(ours.delimiter).toBe(node.delimiter);
});
