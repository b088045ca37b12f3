// A connection by real ssh to a real sshd, cut at random moments in four ways: every command runs exactly once, and all
// of its output arrives, in order.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCommandLink } from '../../src/client/rex/command-link.js';
import { connectTarget } from '../../src/client/rex/connect-target.js';
import { sshCommand } from '../../src/client/rex/ssh-command.js';
import type { SshTarget } from '../../src/client/rex/target.js';
import { markedWith, running } from '../helpers/proc.js';
import { Relay } from '../helpers/relay.js';
import { needsSshd } from '../helpers/needs-sshd.js';
import { type Sshd, startSshd } from '../helpers/sshd.js';
import { until } from '../helpers/wait.js';
import { runs } from '../helpers/runs.js';
import { ResumingClient } from './resuming-client.js';

needsSshd();

const LINKS = 8;
/** The same ways and pauses in every run; HAWSER_SEED=n gives others. */
const SEED = Number(process.env['HAWSER_SEED'] ?? 20_261_116);
const CUTS = runs(200, 4 * LINKS);
const LINES = 30;
/** From when a command is asked for: before it has started, while it writes, and after its end. */
const MAX_WAIT_MS = 250;

const WAYS = ['kill ssh', 'kill sshd', 'reset', 'stall'] as const;
type Way = (typeof WAYS)[number];

test(`${CUTS} cuts: every command ran once, its output is complete and in order`, async () => {
  await using sshd = await startSshd();
  const ran = join(sshd.home, 'ran');
  writeFileSync(ran, '');
  const links = await Promise.all(
    Array.from({ length: LINKS }, (_, n) => cutOften(sshd, { name: `link${n}`, seed: SEED + n, ran })),
  );
  const commands = links.flatMap(({ done }) => done);
  const cuts = links.reduce((sum, link) => sum + link.cuts, 0);
  expect(links.flatMap(({ violations }) => violations)).toEqual([]);
  expect(cuts).toBe(CUTS);
  expect(links.reduce((sum, link) => sum + link.connections, 0)).toBeGreaterThan(CUTS / 2);
  expect(readFileSync(ran, 'utf8').trim().split('\n').toSorted()).toEqual(commands.toSorted());
  await until(() => sshd.started().length === 0, 'every rexd to end with its session');
});

const CLIENT_CUTS = runs(40, 12);

test(`${CLIENT_CUTS} cuts under RexClient: it goes on by itself, and nobody who reads notices`, async () => {
  await using sshd = await startSshd();
  const ran = join(sshd.home, 'ran');
  writeFileSync(ran, '');
  const links = await Promise.all(
    Array.from({ length: 4 }, (_, n) => cutClient(sshd, { name: `client${n}`, seed: SEED + n, ran })),
  );
  expect(links.flatMap(({ violations }) => violations)).toEqual([]);
  expect(links.reduce((sum, { resumed }) => sum + resumed, 0)).toBeGreaterThan(CLIENT_CUTS / 4);
  const commands = links.flatMap(({ done }) => done);
  expect(commands).toHaveLength(CLIENT_CUTS);
  expect(readFileSync(ran, 'utf8').trim().split('\n').toSorted()).toEqual(commands.toSorted());
  await until(() => sshd.started().length === 0, 'every rexd to end with its session');
});

/** Cut by the network alone: which ssh a client has at the moment is its own business. */
async function cutClient(
  sshd: Sshd,
  { name, seed, ran }: Cutting,
): Promise<{ done: string[]; violations: string[]; resumed: number }> {
  const random = randomFrom(seed);
  await using relay = await Relay.to(sshd.port);
  let resumed = 0;
  const choice = { alias: name, target: targetBy(relay, sshd), why: '' };
  await using client = await connectTarget(choice, {
    clientName: 'cuts',
    localCommand: [],
    shareConnection: false,
    compression: 'on',
    reconnect: { onResumed: () => (resumed += 1) },
  });
  const done: string[] = [];
  const violations: string[] = [];
  for (let n = 0; n < CLIENT_CUTS / 4; n++) {
    const id = `${name}-${n}`;
    const running = client.run({ argv: ['sh', '-c', SCRIPT, id, ran], cwd: sshd.home });
    await new Promise((resolve) => setTimeout(resolve, random() * MAX_WAIT_MS));
    if (random() < 0.2) relay.stall();
    else if (random() < 0.5) relay.reset();
    else for (const port of relay.farPorts) kill(sshdOf(port));
    const { stdout, exitCode } = await running;
    if (stdout.toString() !== outputOf(id) || exitCode !== 3)
      violations.push(`${id}: exit ${exitCode}, ${stdout.toString()} (seed ${seed})`);
    done.push(id);
  }
  await client.request('session.info', {}); // over a connection that works: else its end is not heard of for a minute
  return { done, violations, resumed };
}

function targetBy(relay: Relay, sshd: Sshd): SshTarget {
  // The key is known by another port; a silent link is noticed in seconds, which is what a test has.
  const options = `-F ${sshd.config} -o HostKeyAlias=[127.0.0.1]:${sshd.port} -o ServerAliveInterval=1 -o ServerAliveCountMax=2`;
  return sshd.target({ port: relay.port, sshOptions: options.split(' ') });
}

function outputOf(id: string): string {
  return Array.from({ length: LINES }, (_, i) => `${id}:${i}\n`).join('');
}

interface Cutting {
  readonly name: string;
  readonly seed: number;
  readonly ran: string;
}

interface Cut {
  readonly done: string[];
  readonly violations: readonly string[];
  readonly cuts: number;
  readonly connections: number;
}

/** One session: a command, a cut, and so on. */
async function cutOften(sshd: Sshd, { name, seed, ran }: Cutting): Promise<Cut> {
  const random = randomFrom(seed);
  await using relay = await Relay.to(sshd.port);
  const target = targetBy(relay, sshd);
  const outputs = new Map<string, string>();
  const exits = new Map<string, unknown>();
  const client = new ResumingClient(
    () => openCommandLink(sshCommand(target, { controlFolder: false })),
    (method, params) => {
      const id = String(params['process_id']);
      if (method === 'exec.stdout') outputs.set(id, `${outputs.get(id) ?? ''}${String(params['data'])}`);
      if (method === 'exec.exit') exits.set(id, params['exit_code']);
    },
  );
  await client.connect();
  const done: string[] = [];
  const violations: string[] = [];
  for (let n = 0; n < CUTS / LINKS; n++) {
    const id = `${name}-${n}`;
    const started = client.request('exec.start', {
      argv: ['sh', '-c', SCRIPT, id, ran],
      stdin: '',
      cwd: sshd.home,
    });
    await new Promise((resolve) => setTimeout(resolve, random() * MAX_WAIT_MS));
    cut(WAYS[Math.floor(random() * WAYS.length)] ?? 'reset', client, relay);
    const { process_id } = (await started) as { process_id: string };
    await until(() => exits.has(process_id), `${id} to end (seed ${seed})`, 60_000);
    if (outputs.get(process_id) !== outputOf(id)) violations.push(`${id}: ${outputs.get(process_id)}`);
    if (exits.get(process_id) !== 3) violations.push(`${id}: exit ${String(exits.get(process_id))}`);
    done.push(id);
  }
  await client.close();
  return {
    done,
    violations: [...violations, ...client.violations].map((each) => `${each} (seed ${seed})`),
    cuts: CUTS / LINKS,
    connections: client.connections,
  };
}

/** Says that it ran, then writes in bursts. */
const SCRIPT = `echo "$0" >> "$1"; i=0; while [ $i -lt ${LINES} ]; do echo "$0:$i"; i=$((i+1)); [ $((i % 10)) = 0 ] && sleep 0.03; done; exit 3`;

function cut(way: Way, client: ResumingClient, relay: Relay): void {
  if (way === 'reset') relay.reset();
  else if (way === 'stall') relay.stall();
  else if (way === 'kill ssh') kill(client.link?.pid);
  else for (const port of relay.farPorts) kill(sshdOf(port));
}

/** The process of sshd that has the connection from this port: the parent of what it has started. */
function sshdOf(port: number): number | undefined {
  const [login] = markedWith('SSH_CONNECTION', `127.0.0.1 ${port} `);
  return running().find(({ pid }) => pid === login?.ppid)?.pid;
}

function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined && pid > 1) process.kill(pid, 'SIGKILL');
  } catch {
    // ended already
  }
}

/** A small generator (mulberry32): the same seed gives the same moments. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
