// cold-start: how long a user waits for each built bin, beside the shortest program Node can run.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BenchChild } from '../harness/child.js';
import { endedChildrenCpuMs, ownCpuMs } from '../harness/cpu-time.js';
import { UnavailableError } from '../harness/errors.js';
import { LineClient } from '../harness/line-client.js';
import type { Case, Contender, Peer, Role, Suite } from '../harness/types.js';
import { builtRexd, openSession } from './rexd-session.js';
import { inWorkspace, makeWorkspace } from './rexd/workspace.js';

/** Until a bin has said its version, in starts of Node alone. */
const VERSION_BOUND = 1.6;
/** Until rexd has answered its first request. */
const ANSWER_BOUND = 1.25;
const LIMIT = 'node -e 0';
const REXD = 'rexd';

export const coldStartSuite: Suite = {
  name: 'cold-start',
  summary: 'from spawn to --version printed, or to the first session.open answer, vs `node -e 0`',
  peerSpeaks: 'rexd',
  async prepare({ root, peers }, cleanup) {
    const bins = builtBins(root);
    const workspace = makeWorkspace(cleanup);
    const limit = bareNode();
    const versions = bins.map((bin) =>
      runs(`${bin} --version`, 'ours', [
        process.execPath,
        join(root, 'dist', 'bin', `${bin}.js`),
        '--version',
      ]),
    );
    const placed = peers.map(({ name, argv }) => ({ name, argv: inWorkspace(argv, workspace) }));
    return [
      await timed('--version', [limit, ...versions], VERSION_BOUND),
      await firstAnswerCase(builtRexd(root), placed),
    ];
  },
};

/** From the start of a server to its answer to `session.open`. */
export function firstAnswerCase(rexd: readonly string[], peers: readonly Peer[]): Promise<Case> {
  const sessions = [
    answers(REXD, 'ours', rexd),
    ...peers.map((peer) => answers(peer.name, 'peer', peer.argv)),
  ];
  return timed('cold start to the first answer', [bareNode(), ...sessions], ANSWER_BOUND);
}

function bareNode(): Contender {
  return runs(LIMIT, 'limit', [process.execPath, '-e', '0']);
}

/** All of ours are held to the bound. Each runs once first, so that one that cannot is told of here. */
async function timed(name: string, contenders: readonly Contender[], bound: number): Promise<Case> {
  for (const contender of contenders) await contender.run(1);
  const targets = contenders.flatMap((each) =>
    each.role === 'ours' ? [{ contender: each.name, bound }] : [],
  );
  return { name, measure: 'time', unit: 'ms', scale: 1, contenders, targets };
}

function builtBins(root: string): string[] {
  const directory = join(root, 'dist', 'bin');
  const bins = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.js')) : [];
  if (bins.length === 0) throw new UnavailableError('dist/bin holds no bins; run `npm run build` first');
  return bins.map((name) => name.slice(0, -'.js'.length)).toSorted();
}

/** Started and waited for, `ops` times in a row. */
function runs(name: string, role: Role, argv: readonly string[]): Contender {
  return contender(name, role, async () => {
    await using child = await BenchChild.start(name, argv);
    child.stdout.resume();
    const ending = await child.ended;
    if (ending.code !== 0) throw child.failure(ending.text);
  });
}

/** Started and asked for a session; how it ends is part of neither time. */
export function answers(name: string, role: Role, argv: readonly string[]): Contender {
  return contender(name, role, async () => {
    const before = performance.now();
    await using child = await BenchChild.start(name, argv);
    await openSession(name, new LineClient(child));
    const tookMs = performance.now() - before;
    child.kill();
    return tookMs;
  });
}

function contender(name: string, role: Role, startOnce: () => Promise<number | void>): Contender {
  return {
    name,
    role,
    async run(ops) {
      let countedMs = 0;
      for (let i = 0; i < ops; i++) {
        const before = performance.now();
        const counted = await startOnce();
        countedMs += typeof counted === 'number' ? counted : performance.now() - before;
      }
      return countedMs;
    },
    cpuMs: () => ownCpuMs() + endedChildrenCpuMs(),
  };
}
