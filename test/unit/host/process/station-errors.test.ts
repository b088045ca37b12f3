import type * as NodeFs from 'node:fs';
import { mkdtempSync, readdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { FifoPool } from '../../../../src/host/process/fifo-pool.js';
import { openInputFile, useStation } from '../../../../src/host/process/station.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

/** The call that the system refuses next, and with what. */
const system = vi.hoisted(() => ({
  refuses: undefined as { call: string; path: RegExp; code: string } | undefined,
}));

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof NodeFs>();
  const meet = (call: string, path: string): void => {
    if (system.refuses?.call !== call || !system.refuses.path.test(path)) return;
    const { code } = system.refuses;
    system.refuses = undefined;
    throw Object.assign(new Error(code), { code });
  };
  return {
    ...real,
    openSync: (path: string, flags: number, mode?: number): number => {
      const kind = (flags & real.constants.O_CREAT) === 0 ? 'open' : 'create';
      meet(kind, path);
      return real.openSync(path, flags, mode);
    },
    writeSync: (fd: number, data: Uint8Array, at: number): number => {
      meet('write', real.readlinkSync(`/proc/self/fd/${fd}`));
      return real.writeSync(fd, data, at);
    },
    unlinkSync: (path: string): void => {
      meet('unlink', path);
      real.unlinkSync(path);
    },
  };
});

afterEach(() => {
  system.refuses = undefined;
});

function openBelow(dir: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(dir) ? [path] : [];
    } catch {
      return []; // the descriptor of this very listing
    }
  });
}

test.each(['open', 'unlink'])('a pipe whose %s is refused leaves nothing open', async (call) => {
  const dir = mkdtempSync(join(tmpdir(), 'station-'));
  const pool = new FifoPool(dir);
  await pool.prepare(1);
  system.refuses = { call, path: /f\d+$/, code: 'EIO' };
  expect(pool.open()).toBeUndefined();
  expect(pool.usable).toBe(false);
  expect(openBelow(dir)).toEqual([]);
  removeFolder(dir);
});

test.each(['create', 'open', 'write', 'unlink'])(
  'an input file whose %s is refused leaves neither descriptor nor bytes',
  (call) => {
    const dir = useStation()?.dir ?? '';
    system.refuses = { call, path: /\/i\d+( \(deleted\))?$/, code: 'EMFILE' };
    expect(openInputFile(Buffer.from('secret'))).toBeUndefined();
    expect(system.refuses).toBeUndefined();
    expect(openBelow(dir)).toEqual([]);
    expect(readdirSync(dir).filter((name) => name.startsWith('i'))).toEqual([]);
  },
);
