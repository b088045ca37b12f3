// Commands through a rexd: how many a second, and how fast their output arrives.

import { join } from 'node:path';
import type { BareWorker } from '../../harness/bare-worker.js';
import { bundle } from '../../harness/bundle.js';
import { BenchChild } from '../../harness/child.js';
import type { Cleanup } from '../../harness/cleanup.js';
import { treeCpuMs } from '../../harness/cpu-time.js';
import { LineClient } from '../../harness/line-client.js';
import type { Case } from '../../harness/types.js';
import type { Daemon } from './daemon.js';
import { makeLines } from './workspace.js';

const MIB = 1024 * 1024;
const AT_ONCE = [
  { atOnce: 1, bound: 0.35 },
  { atOnce: 8, bound: 0.35 },
];
const STREAMS = [
  { mib: 1, lineBytes: 100, bound: 0.4 },
  { mib: 1, lineBytes: 1000, bound: 0.4 },
  { mib: 16, lineBytes: 100, bound: 0.2 },
  { mib: 16, lineBytes: 1000, bound: 0.2 },
];
const LARGE_PART_MIB = 64;
const LARGE_PARTS = 16;
const LARGE_ROUNDS = 2;
const LARGE_MEMORY_MIB = 120;

export async function spawnCases(daemons: readonly Daemon[], cleanup: Cleanup): Promise<Case[]> {
  const path = await bundle(new URL('../../bundled/spawn-driver.ts', import.meta.url));
  const driver = cleanup.use(await BenchChild.start('bare spawn', [process.execPath, path, 'bare']));
  const client = new LineClient(driver);
  return AT_ONCE.map(({ atOnce, bound }) => ({
    name: atOnce === 1 ? '/bin/true, one after the other' : `/bin/true, ${atOnce} at a time`,
    measure: 'rate',
    unit: 'per second',
    scale: 1,
    contenders: [
      {
        name: 'bare spawn',
        role: 'limit',
        run: async (ops) => void (await client.ask(1, 'run', { ops, atOnce })),
        cpuMs: () => treeCpuMs(driver.pid),
        pid: driver.pid,
      },
      ...daemons.map((daemon) =>
        daemon.contender(async (ops) => {
          const { wallMs, exits } = await daemon.commands({ argv: ['/bin/true'], times: ops, atOnce }, 0);
          return { wallMs, done: exits };
        }),
      ),
    ],
    targets: [{ contender: 'rexd', bound }],
    peerBound: 0.6,
    wallOnly: true,
  }));
}

export function streamCases(daemons: readonly Daemon[], bare: BareWorker, root: string): Case[] {
  return STREAMS.map(({ mib, lineBytes, bound }) => {
    const file = makeLines(join(root, `stream-${mib}-${lineBytes}`), lineBytes, mib * MIB);
    return {
      ...streamCase(daemons, bare, [file], mib, `${lineBytes} B lines`),
      targets: [{ contender: 'rexd', bound }],
    };
  });
}

/** Every byte of it, in little memory; the bare copy goes part by part. */
export function largeStreamCase(daemons: readonly Daemon[], bare: BareWorker, root: string): Case {
  const part = makeLines(join(root, 'stream-part'), 100, LARGE_PART_MIB * MIB);
  const files = Array.from({ length: LARGE_PARTS }, () => part);
  return {
    ...streamCase(daemons, bare, files, LARGE_PART_MIB * LARGE_PARTS, '100 B lines'),
    targets: [],
    maxRounds: LARGE_ROUNDS,
    maxMemoryMiB: LARGE_MEMORY_MIB,
  };
}

/** Goodput: what arrived, not what was sent. */
function streamCase(
  daemons: readonly Daemon[],
  bare: BareWorker,
  files: readonly string[],
  mib: number,
  lines: string,
): Omit<Case, 'targets'> {
  const bytes = mib * MIB;
  const copied = bare.contender('bare pipe copy', {
    request: Buffer.from(`copy ${files[0]}\n`),
    answerBytes: bytes / files.length,
  });
  return {
    name: `stream of ${mib} MiB, ${lines}`,
    measure: 'rate',
    unit: 'MiB/s that arrived',
    scale: mib,
    contenders: [
      { ...copied, run: (ops) => copied.run(ops * files.length) },
      ...daemons.map((daemon) =>
        daemon.contender(async (ops) => {
          const plan = { argv: ['cat', ...files], times: ops, atOnce: 1 };
          const count = await daemon.commands(plan, bytes);
          return { wallMs: count.wallMs, done: count.bytes / bytes };
        }),
      ),
    ],
    peerBound: 5,
    wallOnly: true,
  };
}
