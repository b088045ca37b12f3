// Folders of detached processes that the system does not let go of.

import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import type * as Fs from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { DetachedStore, StateFolderError } from '../../../../src/host/process/detached-store.js';
import { readBootId, readPidNamespace } from '../../../../src/host/process/proc-table.js';

const stuck = vi.hoisted(() => ({ folder: '', file: '' }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>();
  const fail = (path: unknown, bad: string, errno: string): void => {
    if (bad !== '' && String(path).endsWith(bad)) throw Object.assign(new Error(errno), { code: errno });
  };
  return {
    ...fs,
    rmSync: (path: string, options: object) => {
      fail(path, stuck.folder, 'EACCES');
      fs.rmSync(path, options);
    },
    writeFileSync: (path: string, data: string, options: object) => {
      fail(path, stuck.file, 'ENOSPC');
      fs.writeFileSync(path, data, options);
    },
  };
});

const facts = {
  mark: 'd_x/p_y',
  argv: ['true'],
  cwd: '/',
  realCwd: '/',
  startedAtMs: Date.now(),
  maxBytes: 1000,
  host: hostname(),
  bootId: readBootId(),
  namespace: readPidNamespace(),
};

test('one folder that cannot be removed is told of, and keeps nobody from the others', () => {
  const base = mkdtempSync(join(tmpdir(), 'hawser-stuck-'));
  const garbage: string[] = [];
  const store = new DetachedStore({ dir: join(base, 'rexd'), onGarbage: (_, why) => garbage.push(why) });
  const runs = [store.create(facts), store.create(facts), store.create(facts)];
  for (const run of runs) writeFileSync(join(run.folder, 'exit'), '0 0\n');
  stuck.folder = runs[1]?.entry.id ?? '';
  expect(store.sweep({ ended: 0 })).toBe(2);
  expect(runs.map(({ folder }) => existsSync(folder))).toEqual([false, true, false]);
  expect(garbage).toEqual(['cannot be removed (EACCES)']);
  stuck.folder = '';
  expect(store.sweep({ ended: 0 })).toBe(1);
});

test('an entry that cannot be written leaves nothing', () => {
  const base = mkdtempSync(join(tmpdir(), 'hawser-stuck-'));
  const store = new DetachedStore({ dir: join(base, 'rexd') });
  stuck.file = 'entry.json.new';
  const id = `p_${'0'.repeat(26)}`;
  expect(() => store.create({ ...facts, id })).toThrow(StateFolderError);
  stuck.file = '';
  expect(existsSync(join(base, 'rexd', 'detached', id))).toBe(false);
});
