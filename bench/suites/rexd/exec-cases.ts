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
/** What a peer is held to, where it can be. */
const STREAM_PEER_BOUND = 5;
/** The cells of the specification's own table; 16 MiB stand for its 1 GiB, which `--large` measures whole. */
const STREAMS: readonly Stream[] = [
  { mib: 1, lineBytes: 100, bound: 0.4, peerBound: STREAM_PEER_BOUND },
  // Not a cell of that table, and shown without a bound: at this size starting the command is most of the time, and a
  // bare pipe that does nothing but copy is itself hardly five times as fast as a peer that loses two thirds of it.
  { mib: 1, lineBytes: 1000, bound: 0.4 },
  { mib: 16, lineBytes: 100, bound: 0.2, peerBound: STREAM_PEER_BOUND },
  { mib: 16, lineBytes: 1000, bound: 0.2, peerBound: STREAM_PEER_BOUND },
];
const LARGE_LINE_BYTES = [100, 1000];
const LARGE_PART_MIB = 64;
const LARGE_PARTS = 16;
const LARGE_ROUNDS = 2;
const LARGE_MEMORY_MIB = 120;

interface Stream {
  readonly mib: number;
  readonly lineBytes: number;
  readonly bound: number;
  readonly peerBound?: number;
}

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
  return STREAMS.map(({ mib, lineBytes, bound, peerBound }) => {
    const file = makeLines(join(root, `stream-${mib}-${lineBytes}`), lineBytes, mib * MIB);
    return {
      ...streamCase(daemons, bare, [file], mib, `${lineBytes} B lines`),
      targets: [{ contender: 'rexd', bound }],
      ...(peerBound !== undefined && { peerBound }),
    };
  });
}

/** Every byte of it, in little memory; the bare copy goes part by part. */
export function largeStreamCases(daemons: readonly Daemon[], bare: BareWorker, root: string): Case[] {
  return LARGE_LINE_BYTES.map((lineBytes) => {
    const part = makeLines(join(root, `stream-part-${lineBytes}`), lineBytes, LARGE_PART_MIB * MIB);
    const files = Array.from({ length: LARGE_PARTS }, () => part);
    return {
      ...streamCase(daemons, bare, files, LARGE_PART_MIB * LARGE_PARTS, `${lineBytes} B lines`),
      targets: [],
      peerBound: STREAM_PEER_BOUND,
      maxRounds: LARGE_ROUNDS,
      maxMemoryMiB: LARGE_MEMORY_MIB,
    };
  });
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
    wallOnly: true,
  };
}
