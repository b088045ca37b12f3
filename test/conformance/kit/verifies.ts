// Tests cite clauses: a typo fails to compile, a clause nobody cites fails coverage.test.ts, a known gap must fail.

import { test } from 'vitest';
import { busOurs } from '../clauses/bus-ours.js';
import { busRows } from '../clauses/bus-rows.js';
import { busSeed } from '../clauses/bus-seed.js';
import { busSemantics } from '../clauses/bus-semantics.js';
import type { Clause, Transport } from '../clauses/clause.js';
import { hugind } from '../clauses/hugind.js';
import { rexdClients } from '../clauses/rexd-clients.js';
import { rexdDaemon } from '../clauses/rexd-daemon.js';
import { rexdDetach } from '../clauses/rexd-detach.js';
import { rexdEnds } from '../clauses/rexd-ends.js';
import { rexdExec } from '../clauses/rexd-exec.js';
import { rexdFiles } from '../clauses/rexd-files.js';
import { rexdFs } from '../clauses/rexd-fs.js';
import { rexdGround } from '../clauses/rexd-ground.js';
import { rexdGuard } from '../clauses/rexd-guard.js';
import { rexdHostile } from '../clauses/rexd-hostile.js';
import { rexdLife } from '../clauses/rexd-life.js';
import { rexdPty } from '../clauses/rexd-pty.js';
import { rexdResume } from '../clauses/rexd-resume.js';
import { rexdWire } from '../clauses/rexd-wire.js';
import { rexd } from '../clauses/rexd.js';
import { stringCli } from '../clauses/string-cli.js';
import { stringDocuments } from '../clauses/string-documents.js';
import { stringActions } from '../clauses/string-actions.js';
import { stringEdit } from '../clauses/string-edit.js';
import { stringFaults } from '../clauses/string-faults.js';
import { stringClient } from '../clauses/string-client.js';
import { stringHttp } from '../clauses/string-http.js';
import { stringPolicy } from '../clauses/string-policy.js';
import { stringSeed } from '../clauses/string-seed.js';
import { stringTransport } from '../clauses/string-transport.js';

const tables = [
  busOurs,
  busRows,
  busSeed,
  busSemantics,
  hugind,
  rexdClients,
  rexdDaemon,
  rexdDetach,
  rexdEnds,
  rexdExec,
  rexdFiles,
  rexdFs,
  rexdGround,
  rexdGuard,
  rexdHostile,
  rexdLife,
  rexdPty,
  rexdResume,
  rexdWire,
  rexd,
  stringCli,
  stringDocuments,
  stringActions,
  stringEdit,
  stringFaults,
  stringClient,
  stringHttp,
  stringPolicy,
  stringSeed,
  stringTransport,
] as const;

type IdsOf<Table> = Table extends unknown ? keyof Table : never;
export type ClauseId = IdsOf<(typeof tables)[number]>;

export const clauses = joinTables(tables) as Readonly<Record<ClauseId, Clause>>;

/** How a client reaches the server of a suite, unless a clause says otherwise. */
const TRANSPORTS = { rexd: 'stdio', bus: 'unix', string: 'http', hugind: 'stdio' } as const;

type TransportOf<Id> = Id extends `bus/${string}` ? Exclude<Transport, 'http' | 'cli'> : Transport;

/** Ends the test as skipped. The reason is printed; a test that cannot run must not look like one that passed. */
type Skip = (reason: string) => void;

/**
 * One body may prove several clauses, which are then named together; it runs by every transport of the first.
 * `timeoutMs`: for a test that takes longer than the usual, on a busy machine too.
 */
export function verifies<Id extends ClauseId>(
  id: Id | readonly [Id, ...ClauseId[]],
  body: (transport: TransportOf<Id>, skip: Skip) => Promise<void>,
  timeoutMs?: number,
): void {
  const ids: readonly [Id, ...ClauseId[]] = typeof id === 'string' ? [id] : id;
  const clause: Clause = clauses[ids[0]];
  const suite = ids[0].slice(0, ids[0].indexOf('/')) as keyof typeof TRANSPORTS;
  for (const transport of clause.transports ?? [TRANSPORTS[suite]]) {
    const isKnownGap = ids.some((each) => clauses[each].knownFailure !== undefined);
    const register = isKnownGap ? test.fails : test;
    const run = ({ skip }: { skip: Skip }): Promise<void> =>
      body(transport as TransportOf<Id>, (reason) => skip(reason));
    register(`${ids.join(' ')} [${transport}] ${clause.text}`, run, timeoutMs);
  }
}

/** One id, one clause: of two with the same id one would go unread. */
export function joinTables(given: readonly Readonly<Record<string, Clause>>[]): Record<string, Clause> {
  const joined: Record<string, Clause> = {};
  for (const [id, clause] of given.flatMap((table) => Object.entries(table))) {
    if (Object.hasOwn(joined, id)) throw new Error(`the clause ${id} is defined twice`);
    joined[id] = clause;
  }
  return joined;
}
