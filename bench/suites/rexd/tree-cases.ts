// A tree of 50,000 files through a rexd: all of it listed, and half of it found by a pattern.

import type { BareWorker } from '../../harness/bare-worker.js';
import type { Case } from '../../harness/types.js';
import type { Daemon } from './daemon.js';
import { makeTree, TREE_ENTRIES, TREE_FILES, TREE_MATCHES, TREE_PATTERN } from './workspace.js';

/** Above what there is, so that nothing is left out by anybody. */
const MAX_ANSWERS = 100_000;

export async function treeCases(daemons: readonly Daemon[], bare: BareWorker, root: string): Promise<Case[]> {
  const top = makeTree(root);
  return [
    await treeCase(daemons, bare, {
      name: `fs.list of ${TREE_FILES} files`,
      method: 'fs.list',
      params: { path: top, recursive: true, max_entries: MAX_ANSWERS },
      answers: ({ entries }) => entries?.length === TREE_ENTRIES,
      bareName: 'bare readdir and lstat',
      request: `list ${top}\n`,
      bound: 2,
    }),
    await treeCase(daemons, bare, {
      name: `fs.glob ${TREE_PATTERN} in ${TREE_FILES} files`,
      method: 'fs.glob',
      params: { pattern: TREE_PATTERN, cwd: top, max_matches: MAX_ANSWERS },
      answers: ({ matches }) => matches?.length === TREE_MATCHES,
      bareName: 'bare readdir',
      request: `glob ${top}\n`,
      bound: 4,
    }),
  ];
}

interface TreeQuestion {
  readonly name: string;
  readonly method: string;
  readonly params: object;
  answers(result: { entries?: unknown[]; matches?: unknown[] }): boolean;
  readonly bareName: string;
  readonly request: string;
  readonly bound: number;
}

async function treeCase(daemons: readonly Daemon[], bare: BareWorker, ask: TreeQuestion): Promise<Case> {
  for (const daemon of daemons) {
    await daemon.check(ask.method, ask.params, (result) => ask.answers(result as Record<string, unknown[]>));
  }
  return {
    name: ask.name,
    measure: 'time',
    unit: 'ms',
    scale: 1,
    contenders: [
      bare.contender(ask.bareName, { request: Buffer.from(ask.request), answerBytes: 1 }),
      ...daemons.map((daemon) => {
        const pool = daemon.requests(ask.method, ask.params, 1);
        return daemon.contender((ops) => daemon.client.exchange(pool, ops, 1));
      }),
    ],
    targets: [{ contender: 'rexd', bound: ask.bound }],
    peerBound: 1,
    wallOnly: true,
  };
}
