// rex: a call of the command line when a connection is kept open, beside Node's start and beside ssh over its master.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSshd, whyNoSshd } from '../../test/helpers/sshd.js';
import { BenchChild, measuredEnv } from '../harness/child.js';
import { endedChildrenCpuMs, ownCpuMs } from '../harness/cpu-time.js';
import { UnavailableError } from '../harness/errors.js';
import type { Case, Contender, Role, Suite } from '../harness/types.js';

/** 15 ms over a bare spawn is less than Node takes to start. */
const BOUND = 1;
const SSH_BOUND = 1.3;
const READY_TRIES = 50;

export const rexSuite: Suite = {
  name: 'rex',
  summary:
    '`rex exec TARGET -- true` over a kept connection vs `node -e 0`, and vs `ssh host true` over a master',
  async prepare({ root }, cleanup) {
    const rex = [join(root, 'dist/bin/rex.js')]; // by its own first line, as it is installed
    const home = mkdtempSync(join(tmpdir(), 'b-')); // short: a socket of ssh goes below it
    const env = { HOME: home, XDG_STATE_HOME: join(home, 's'), XDG_RUNTIME_DIR: '', REX_KEEP: '10m' };
    const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const call = (...args: string[]): boolean =>
      spawnSync('env', [...words, ...rex, ...args], { stdio: 'ignore', env: measuredEnv() }).status === 0;
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
    const timed = { measure: 'time', unit: 'ms', scale: 1 } as const;
    const here = 'rex exec local -- true';
    const there = 'rex exec box -- true';
    const cases: Case[] = [
      {
        ...timed,
        name: 'a warm call',
        contenders: [
          runs('node -e 0', 'limit', ['env', ...words, process.execPath, '-e', '0']),
          runs('true', 'reference', ['env', ...words, 'true']),
          runs(here, 'ours', ['env', ...words, ...rex, 'exec', 'local', '--', 'true']),
        ],
        targets: [{ contender: here, bound: BOUND }],
      },
    ];
    if (whyNoSshd() !== undefined) return cases;
    const sshd = cleanup.use(await startSshd());
    const { ssh, config } = sshd;
    const folder = join(home, '.config/rexd');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'targets.json'), JSON.stringify({ targets: { box: sshd.target() } }));
    if (!call('exec', 'box', '--', 'true')) throw new UnavailableError('rex does not reach the sshd');
    for (let tries = 0; !call('keep', 'box', '--ready'); tries++)
      if (tries === READY_TRIES) throw new UnavailableError('no connection is kept');
    const [socket] = readdirSync(join(home, '.cache/rex-ssh'));
    const master = ['-S', join(home, '.cache/rex-ssh', socket ?? '')];
    cleanup.use({
      [Symbol.asyncDispose]: () => {
        spawnSync('ssh', ['-F', config, ...master, '-O', 'exit', 'box'], { stdio: 'ignore' });
        return Promise.resolve();
      },
    });
    const plain = [...ssh.slice(0, -1), ...master, 'box', 'true'];
    cases.push({
      ...timed,
      name: 'a warm call through ssh',
      contenders: [
        runs('ssh box true', 'limit', ['env', ...words, ...plain]),
        runs(there, 'ours', ['env', ...words, ...rex, 'exec', 'box', '--', 'true']),
      ],
      targets: [{ contender: there, bound: SSH_BOUND }],
    });
    return cases;
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
