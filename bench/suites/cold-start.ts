// cold-start: how long a user waits for each built bin, beside the shortest program Node can run.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BenchChild } from '../harness/child.js';
import { endedChildrenCpuMs, ownCpuMs } from '../harness/cpu-time.js';
import { UnavailableError } from '../harness/errors.js';
import { LineClient } from '../harness/line-client.js';
import type { Case, Contender, Role, Suite } from '../harness/types.js';
import { builtRexd, openSession } from './rexd-session.js';

/** One start may take at most this many times a start of Node alone. */
const TARGET = 1.6;
const LIMIT = 'node -e 0';
const REXD = 'rexd --stdio';

export const coldStartSuite: Suite = {
  name: 'cold-start',
  summary: 'from spawn to --version printed, or to the first session.open answer, vs `node -e 0`',
  peerSpeaks: 'rexd',
  async prepare({ root, peers }) {
    const bins = builtBins(root);
    const limit = runs(LIMIT, 'limit', [process.execPath, '-e', '0']);
    const versions = bins.map((bin) =>
      runs(`${bin} --version`, 'ours', [
        process.execPath,
        join(root, 'dist', 'bin', `${bin}.js`),
        '--version',
      ]),
    );
    const sessions = [
      answers(REXD, 'ours', builtRexd(root)),
      ...peers.map((peer) => answers(peer.name, 'peer', peer.argv)),
    ];
    for (const contender of [limit, ...versions, ...sessions]) await contender.run(1); // fails here, with words, if it cannot
    return [
      timed(
        '--version',
        [limit, ...versions],
        versions.map((each) => each.name),
      ),
      // Shown, not judged: it is held to a bound of its own beside a peer.
      timed('first session.open answer', [limit, ...sessions], []),
    ];
  },
};

function timed(name: string, contenders: readonly Contender[], judged: readonly string[]): Case {
  const targets = judged.map((contender) => ({ contender, bound: TARGET }));
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
function answers(name: string, role: Role, argv: readonly string[]): Contender {
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
