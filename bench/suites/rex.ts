// rex: a call of the command line when a connection is kept open, beside the shortest program Node can run.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchChild } from '../harness/child.js';
import { endedChildrenCpuMs, ownCpuMs } from '../harness/cpu-time.js';
import { UnavailableError } from '../harness/errors.js';
import type { Contender, Role, Suite } from '../harness/types.js';

/** 15 ms over Node's own 27: what a call may take beside the start of Node. */
const BOUND = 1.55;
const READY_TRIES = 50;

export const rexSuite: Suite = {
  name: 'rex',
  summary: '`rex exec local -- true` over a kept connection vs `node -e 0`',
  prepare({ root }, cleanup) {
    const rex = [process.execPath, join(root, 'dist/bin/rex.js')];
    const home = mkdtempSync(join(tmpdir(), 'hawser-bench-rex-'));
    const env = { HOME: home, XDG_STATE_HOME: join(home, 's'), XDG_RUNTIME_DIR: '', REX_KEEP: '10m' };
    const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const call = (...args: string[]): boolean =>
      spawnSync('env', [...words, ...rex, ...args], { stdio: 'ignore' }).status === 0;
    cleanup.use({
      [Symbol.asyncDispose]: () => {
        call('keep', '--stop');
        rmSync(home, { recursive: true, force: true });
        return Promise.resolve();
      },
    });
    if (!call('exec', 'local', '--', 'true'))
      throw new UnavailableError('rex does not run; run `npm run build` first');
    for (let tries = 0; !call('keep', '--ready'); tries++)
      if (tries === READY_TRIES) throw new UnavailableError('no connection is kept');
    const exec = ['env', ...words, ...rex, 'exec', 'local', '--', 'true'];
    const contenders = [
      runs('node -e 0', 'limit', ['env', ...words, process.execPath, '-e', '0']),
      runs('rex exec local -- true', 'ours', exec),
    ];
    const targets = [{ contender: 'rex exec local -- true', bound: BOUND }];
    return Promise.resolve([
      { name: 'a warm call', measure: 'time', unit: 'ms', scale: 1, contenders, targets },
    ]);
  },
};

function runs(name: string, role: Role, argv: readonly string[]): Contender {
  return {
    name,
    role,
    async run(ops) {
      const before = performance.now();
      for (let i = 0; i < ops; i++) {
        await using child = await BenchChild.start(name, argv);
        child.stdout.resume();
        const ending = await child.ended;
        if (ending.code !== 0) throw child.failure(ending.text);
      }
      return performance.now() - before;
    },
    cpuMs: () => ownCpuMs() + endedChildrenCpuMs(),
  };
}
