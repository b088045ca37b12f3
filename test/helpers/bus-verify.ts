// Drives a bus with clients that collide, vanish and read slowly, kills its workers, and proves what came of every message.

import { readdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { BusUnderTest, fixture } from './bus.js';
import { newCounts, VerifyClient, type VerifyCounts } from './bus-verify-client.js';
import { descendants } from './proc.js';
import { until } from './wait.js';

export interface VerifyOptions {
  /** Stops when so many messages have been checked, or after so long, whichever comes first. */
  readonly messages: number;
  readonly maxMs?: number;
  /** Results before which it does not stop for the time. */
  readonly least?: number;
  readonly clients?: number;
  readonly workers?: number;
  readonly window?: number;
  readonly idCollision?: 'hold' | 'rewrite';
  /** Mean time between the deaths of workers, of clients, and pauses of a reader; 0 for none. */
  readonly killEveryMs?: number;
  /** Mean time between rolling restarts of all workers; 0, which is the default, for none. */
  readonly restartEveryMs?: number;
  readonly vanishEveryMs?: number;
  readonly pauseEveryMs?: number;
  readonly seed?: number;
  readonly progressEveryMs?: number;
  readonly onProgress?: (sample: VerifySample) => void;
}

export interface VerifySample extends Readonly<VerifyCounts> {
  readonly atMs: number;
  readonly kills: number;
  readonly rssBytes: number;
  readonly fds: number;
}

export interface VerifyReport extends VerifySample {
  readonly faults: readonly string[];
  readonly exitCode: number | null;
  readonly samples: readonly VerifySample[];
  /** Descriptors of the bus before the first client and after the last; while there are clients they are part of it. */
  readonly fdsBefore: number;
  readonly fdsAfter: number;
}

/** After so many the run is stopped: it is clear by then. */
const MAX_FAULTS = 20;
const SLOW_READ_MS = 150;
const TICK_MS = 20;

export async function verifyBus(options: VerifyOptions): Promise<VerifyReport> {
  const { clients: wanted = 12, workers = 4, window = 48, idCollision = 'hold', seed = 20_261_116 } = options;
  const { killEveryMs = 2000, vanishEveryMs = 150, pauseEveryMs = 300, progressEveryMs = 5000 } = options;
  const random = mulberry32(seed);
  const counts = newCounts();
  const faults: string[] = [];
  const samples: VerifySample[] = [];
  let kills = 0;

  await using bus = await BusUnderTest.start({
    pools: [{ id: 'v', command: process.execPath, args: [fixture('verify-worker.mjs')], instances: workers }],
    limits: { max_restarts: 100_000, restart_window_sec: 60 },
    config: { idCollision },
  });
  const countFds = (): number => readdirSync(`/proc/${bus.pid}/fd`).length;
  const fdsBefore = countFds();
  const from = Date.now();
  const connect = (): VerifyClient =>
    new VerifyClient({
      where: { path: bus.socket },
      window: 1 + Math.floor(random() * window),
      counts,
      random,
      fault: (what) => faults.push(what),
    });
  const clients = Array.from({ length: wanted }, connect);
  const sample = (): VerifySample => ({
    ...counts,
    atMs: Date.now() - from,
    kills,
    rssBytes: rssOf(bus.pid),
    fds: countFds(),
  });
  const replaceOne = (how: 'vanish' | 'finish'): void => {
    const at = Math.floor(random() * clients.length);
    const [gone] = clients.splice(at, 1, connect());
    void gone?.[how]();
    if (gone !== undefined) leaving.add(gone.closed.finally(() => leaving.delete(gone.closed)));
  };
  const leaving = new Set<Promise<void>>();
  const due = (everyMs: number): boolean => everyMs > 0 && random() < TICK_MS / everyMs;

  let nextSample = progressEveryMs;
  while (counts.messages < options.messages && faults.length < MAX_FAULTS && bus.child.exitCode === null) {
    const elapsed = Date.now() - from;
    const isEnough =
      options.least === undefined || (counts.results > options.least && counts.disconnects > 0);
    if (options.maxMs !== undefined && elapsed > options.maxMs && isEnough) break;
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    if (due(vanishEveryMs)) replaceOne('vanish');
    if (due(vanishEveryMs)) replaceOne('finish');
    if (due(pauseEveryMs)) readSlowly(clients[Math.floor(random() * clients.length)], random);
    if (due(options.restartEveryMs ?? 0)) restartAll(bus.socket);
    if (due(killEveryMs) && killOne(bus.pid, random)) kills += 1;
    if (elapsed < nextSample) continue;
    nextSample += progressEveryMs;
    const now = sample();
    samples.push(now);
    options.onProgress?.(now);
  }

  const last =
    bus.child.exitCode === null
      ? sample()
      : { ...counts, atMs: Date.now() - from, kills, rssBytes: 0, fds: 0 };
  if (bus.child.exitCode !== null) faults.push(`the bus ended with ${bus.child.exitCode}`);
  await endAll(clients, leaving, faults);
  const fdsAfter = bus.child.exitCode === null ? await settledFds(countFds, fdsBefore) : 0;
  bus.child.kill('SIGTERM');
  const { code } = await bus.ended;
  return { ...last, ...counts, faults, exitCode: code, samples, fdsBefore, fdsAfter };
}

/** Asks for it and does not wait: it is done when every worker has finished what it had. */
function restartAll(path: string): void {
  const socket = createConnection(path);
  socket.on('error', () => {});
  socket.end('{"jsonrpc":"2.0","id":"restart","method":"bus/restart"}\n');
  socket.resume();
}

/** Once as many are left as there were, or after a while: closing takes its time on a busy machine. */
async function settledFds(count: () => number, before: number): Promise<number> {
  await until(() => count() <= before, 'the descriptors to be closed').catch(() => {});
  return count();
}

/** Everybody half-closes; whoever is not through in time has lost something. */
async function endAll(
  clients: readonly VerifyClient[],
  leaving: ReadonlySet<Promise<void>>,
  faults: string[],
): Promise<void> {
  const END_MS = 60_000;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(true), END_MS);
  });
  const all = Promise.all([...clients.map(async (client) => await client.finish()), ...leaving]).then(
    () => false,
  );
  if (await Promise.race([all, late])) {
    const open = clients.map((client) => client.open).filter((count) => count > 0);
    faults.push(`LOST: ${END_MS} ms after the last request ${open.join(' + ')} were unanswered`);
    await Promise.all(clients.map(async (client) => await client.vanish()));
  }
  clearTimeout(timer);
}

function readSlowly(client: VerifyClient | undefined, random: () => number): void {
  client?.pause();
  setTimeout(() => client?.resume(), random() * SLOW_READ_MS);
}

function killOne(bus: number, random: () => number): boolean {
  const workers = descendants(bus).filter(({ command }) => command.includes('verify-worker.mjs'));
  const victim = workers[Math.floor(random() * workers.length)];
  if (victim === undefined || workers.length < 2) return false;
  try {
    process.kill(victim.pid, 'SIGKILL');
  } catch {
    return false; // ended by itself meanwhile
  }
  return true;
}

export function rssOf(pid: number): number {
  try {
    return (
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
    );
  } catch {
    return 0;
  }
}

/** Numbers that look random and are the same in every run. */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
