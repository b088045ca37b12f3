// Starting programs by Bun's own call, with a stand-in for Bun; and by Bun itself, where it is installed.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BunStart } from '../../../../src/host/runtime/bun-spawn.js';

const START: BunStart = {
  argv: ['tool', 'a b'],
  cwd: '/somewhere',
  env: { PATH: '/bin', GONE: undefined },
  stdio: ['ignore', 7, 8],
};

interface Asked {
  readonly onExit: (child: unknown, code: number | null, signal: string | null) => void;
}

const unref = vi.fn<() => void>();
const spawn = vi.fn<(options: Asked) => { pid: number; unref: () => void }>();

async function load() {
  vi.resetModules();
  return (await import('../../../../src/host/runtime/bun-spawn.js')).startByBun;
}

describe('with a stand-in', () => {
  beforeEach(() => {
    spawn.mockReset().mockReturnValue({ pid: 4321, unref });
    vi.stubGlobal('Bun', { spawn });
  });
  afterEach(() => void vi.unstubAllGlobals());

  test('a program gets its words, folder, variables and descriptors, and a session of its own', async () => {
    const startByBun = await load();
    expect(startByBun(START)?.pid).toBe(4321);
    expect(spawn).toHaveBeenCalledExactlyOnceWith({
      cmd: ['tool', 'a b'],
      cwd: '/somewhere',
      env: { PATH: '/bin' },
      stdio: ['ignore', 7, 8],
      detached: true,
      onExit: expect.any(Function) as () => void,
    });
    startByBun({ ...START, cwd: undefined })?.unref();
    expect(spawn.mock.lastCall?.[0]).not.toHaveProperty('cwd');
    expect(unref).toHaveBeenCalledOnce();
  });

  test('an end is told once, by code or by signal, to who asks before it and to who asks after it', async () => {
    const startByBun = await load();
    const leader = startByBun(START);
    const told = vi.fn<(exit: object) => void>();
    leader?.onExit(told);
    expect([told.mock.calls, leader?.isOurs()]).toEqual([[], true]);
    spawn.mock.lastCall?.[0].onExit(undefined, 3, null);
    expect(told).toHaveBeenCalledExactlyOnceWith({ code: 3, signal: null });
    const early = startByBun(START);
    spawn.mock.lastCall?.[0].onExit(undefined, 137, 'SIGKILL');
    const late = vi.fn<(exit: object) => void>();
    early?.onExit(late);
    expect(late).toHaveBeenCalledExactlyOnceWith({ code: null, signal: 'SIGKILL' });
  });

  test('what it cannot do, or fails at, is left to child_process', async () => {
    const startByBun = await load();
    expect(startByBun({ ...START, argv: [] })).toBeUndefined();
    expect(startByBun({ ...START, stdio: ['pipe', 7, 8] })).toBeUndefined();
    expect(startByBun({ ...START, stdio: ['ignore', 7, 8, 9] })).toBeUndefined();
    expect(spawn).not.toHaveBeenCalled();
    spawn.mockImplementation(() => {
      throw new Error('ENOENT');
    });
    expect(startByBun(START)).toBeUndefined();
  });
});

test('under Node nothing is started by it', async () => {
  expect((await load())(START)).toBeUndefined();
});

const BUN = join(import.meta.dirname, '../../../../node_modules/.bin/bun');

test.skipIf(!existsSync(BUN))('Bun itself starts, tells the end, and leaves our descriptors to us', () => {
  const program = `
    import { closeSync, fstatSync, openSync } from 'node:fs';
    import { startByBun } from '${join(import.meta.dirname, '../../../../src/host/runtime/bun-spawn.ts')}';
    const said = [];
    for (const script of ['echo $0 $A; exit 3', 'kill -9 $$']) {
      const fd = openSync('/dev/null', 'w');
      const leader = startByBun({ argv: ['/bin/sh', '-c', script], cwd: '/', env: { A: 'x' }, stdio: ['ignore', fd, fd] });
      said.push(await new Promise((resolve) => leader.onExit(resolve)));
      fstatSync(fd);
      closeSync(fd);
    }
    said.push(startByBun({ argv: ['/no/such/program'], cwd: '/', env: {}, stdio: ['ignore', 1, 2] }) === undefined);
    console.log(JSON.stringify(said));
  `;
  const { stdout, stderr } = spawnSync(BUN, ['-e', program], { encoding: 'utf8' });
  expect(stdout.trim(), stderr).toBe('[{"code":3,"signal":null},{"code":null,"signal":"SIGKILL"},true]');
});
