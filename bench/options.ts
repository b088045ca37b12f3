// The command line of the bench kit, parsed and checked before anything is started.

import { parseArgs } from 'node:util';
import { toError } from '../src/base/errors.js';
import { UsageError } from './harness/errors.js';
import type { Plan } from './harness/measure.js';
import { splitCommand } from './harness/split-command.js';
import type { Peer, Suite } from './harness/types.js';

export interface Options {
  /** Empty means all. */
  readonly suites: readonly string[];
  readonly peers: readonly Peer[];
  readonly plan: Plan;
  readonly json: boolean;
  /** False: a missed target is reported but the exit code stays 0. */
  readonly failOnMiss: boolean;
  /** False: a quick run shows figures but does not replace the stored ones. */
  readonly store: boolean;
  /** True: cases that take minutes run too. */
  readonly large: boolean;
  /** Only cases whose name has this in it; such a run is stored no more than a quick one. */
  readonly only: string;
  readonly show: 'help' | 'list' | 'results';
}

const FULL: Plan = { rounds: 15, warmups: 3, sampleMs: 300 };
const QUICK: Plan = { rounds: 5, warmups: 1, sampleMs: 60 };
export const MAX_ROUNDS = 1000;

export const HELP = `Usage: npm run bench -- [suite…] [options]

Measures our code beside the limit the machine sets, in the same run, and prints ratios.
Without a suite, all of them run. Results go to bench/results/<suite>.json and .svg.

Options:
  --peer name="command"  put another program beside ours (repeatable)
  --rounds N             measured rounds (default ${FULL.rounds})
  --large                with cases that take minutes (rexd: streams of 1 GiB)
  --only TEXT            only the cases whose name has TEXT in it; shows figures, stores none
  --quick                short rounds and few of them; shows figures, stores none
  --json                 print JSON, and nothing else, on stdout
  --no-fail              exit 0 even when a target is missed
  --list                 list the suites
  --help                 show this text

Exit codes: 0 ok, 1 a target was missed, 2 usage, a contender that does not work, or a suite that cannot run.

Examples:
  npm run bench
  npm run bench -- splitter spawn --quick
  npm run bench -- rexd --peer other="/opt/other/rexd --stdio --config {config}" --rounds 31
`;

export function parseOptions(argv: readonly string[], known: readonly string[]): Options {
  const { values, positionals } = parse(argv);
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UsageError(`no suite is called ${unknown.join(', ')}; there are: ${known.join(', ')}`);
  const quick = values.quick ?? false;
  const plan = quick ? QUICK : FULL;
  return {
    suites: [...new Set(positionals)],
    peers: parsePeers(values.peer ?? []),
    plan: values.rounds === undefined ? plan : { ...plan, rounds: parseRounds(values.rounds) },
    json: values.json ?? false,
    failOnMiss: values['no-fail'] !== true,
    store: !quick && values.only === undefined,
    large: values.large ?? false,
    only: values.only ?? '',
    show: values.help === true ? 'help' : values.list === true ? 'list' : 'results',
  };
}

/** Peers join the suites that were named; in a run of everything, those whose protocol is a daemon's own. */
export function peersFor(
  suite: Pick<Suite, 'name' | 'peerSpeaks'>,
  options: Pick<Options, 'suites' | 'peers'>,
): readonly Peer[] {
  const joins = options.suites.includes(suite.name)
    ? suite.peerSpeaks !== undefined
    : suite.peerSpeaks === 'rexd';
  return joins ? options.peers : [];
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        peer: { type: 'string', multiple: true },
        rounds: { type: 'string' },
        quick: { type: 'boolean' },
        large: { type: 'boolean' },
        only: { type: 'string' },
        json: { type: 'boolean' },
        'no-fail': { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(toError(error).message);
  }
}

function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > MAX_ROUNDS) {
    throw new UsageError(`--rounds takes a whole number from 1 to ${MAX_ROUNDS}, not ${text}`);
  }
  return rounds;
}

function parsePeers(texts: readonly string[]): Peer[] {
  const peers = texts.map(parsePeer);
  const twice = peers.find((peer, i) => peers.findIndex((other) => other.name === peer.name) !== i);
  if (twice !== undefined) throw new UsageError(`two peers are called ${twice.name}`);
  return peers;
}

function parsePeer(text: string): Peer {
  const [, name, command] = /^([\w.+-]+)=([\s\S]+)$/.exec(text) ?? [];
  if (name === undefined || command === undefined)
    throw new UsageError(`--peer takes name="command", not ${text}`);
  try {
    return { name, argv: splitCommand(command) };
  } catch (error) {
    throw new UsageError(`--peer ${name}: ${toError(error).message}`);
  }
}
