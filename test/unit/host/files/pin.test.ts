import { closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mountIdOf } from '../../../../src/host/files/pin.js';

const MOUNTS = ['/', '/proc', '/dev', '/sys'];

/** As the kernel has it when it is asked anew. */
function mountNow(fd: number): string | undefined {
  return /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
}

function hold(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
}

test('the mount is that of what has the descriptor now, whatever had its number before', () => {
  for (const path of [...MOUNTS, ...MOUNTS.toReversed()]) {
    const fd = hold(path);
    try {
      expect(mountIdOf(fd)).toBe(mountNow(fd));
      expect(mountIdOf(fd)).toBe(mountNow(fd)); // and when it is asked again
    } finally {
      closeSync(fd);
    }
  }
});

test('several at once are told apart, and no more than one descriptor is kept', () => {
  const before = readdirSync('/proc/self/fd').length;
  const fds = MOUNTS.map(hold);
  try {
    for (const fd of [...fds, ...fds.toReversed()]) expect(mountIdOf(fd)).toBe(mountNow(fd));
  } finally {
    for (const fd of fds) closeSync(fd);
  }
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 1);
});
