// Random lines from clients and workers against a running bus: JSON.parse says what each is, and the bus must agree.

import { createHash } from 'node:crypto';
import { BusUnderTest, fixture } from './bus.js';
import type { BusPeer } from './bus-client.js';
import { mulberry32 } from './bus-verify.js';
import { breakLine, type Random, randomObject, randomValue } from './random-json.js';

export interface FuzzOptions {
  readonly lines: number;
  readonly maxMs: number;
  /** Clients that talk to their end, however long that takes. */
  readonly least?: number;
  readonly seed?: number;
  readonly onProgress?: (lines: number) => void;
}

export interface FuzzReport {
  lines: number;
  answered: number;
  closed: number;
  fromWorkers: number;
  faults: string[];
}

const AT_ONCE = 8;
const BATCH = 24;
const MAX_FAULTS = 10;

export async function fuzzBus({
  lines,
  maxMs,
  least = 0,
  seed = 5,
  onProgress,
}: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { lines: 0, answered: 0, closed: 0, fromWorkers: 0, faults: [] };
  await using bus = await BusUnderTest.start({
    pools: [{ id: 'f', command: process.execPath, args: [fixture('fuzz-worker.mjs')], instances: 2 }],
    limits: { max_rubbish_lines: 10_000_000, max_restarts: 1000 },
    args: ['--log-level', 'error'],
  });
  const end = Date.now() + maxMs;
  const goesOn = (): boolean => Date.now() < end || report.closed < least;
  const lane = async (): Promise<void> => {
    while (report.lines < lines && goesOn() && report.faults.length < MAX_FAULTS) {
      await using peer = await bus.connect();
      await talk(peer, seed, report).catch((error: unknown) => report.faults.push(String(error)));
      onProgress?.(report.lines);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (bus.child.exitCode !== null || bus.child.signalCode !== null) report.faults.push('the bus has ended');
  await using last = await bus.connect();
  last.send({ jsonrpc: '2.0', id: 'last', method: 'x' });
  if ((await last.message()).id !== 'last') report.faults.push('the bus does not serve any more');
  return report;
}

let talks = 0;

/** One client: lines that are right, each of which must be answered; then one that is wrong, which must end it. */
async function talk(peer: BusPeer, seed: number, report: FuzzReport): Promise<void> {
  talks += 1;
  const random = mulberry32(seed * 1_000_003 + talks); // its own: who is served first must not change what is sent
  const digests = new Map<string, string>();
  for (let n = 0; n < BATCH; n++) {
    const id = `f${talks}-${n}`;
    const line = randomRequest(random, id, report);
    report.lines += 1;
    digests.set(id, createHash('sha1').update(line).digest('base64'));
    peer.send(line);
  }
  while (digests.size > 0) {
    const message = await peer.message();
    const expected = digests.get(String(message.id));
    if (expected === undefined)
      throw new Error(`an answer to nothing: ${JSON.stringify(message).slice(0, 300)}`);
    if (message.result?.['digest'] !== expected)
      throw new Error(`not the line that was sent: ${JSON.stringify(message).slice(0, 300)}`);
    digests.delete(String(message.id));
    report.answered += 1;
  }
  const wrong = randomWrong(random);
  report.lines += 1;
  peer.send(wrong);
  const answers = (await peer.rest()).map((bytes) => bytes.toString());
  if (answers.length !== 1 || !/"code":-32(700|600)/.test(answers[0] ?? ''))
    throw new Error(
      `${wrong.toString('latin1').slice(0, 300)} was answered by ${answers.join(' ').slice(0, 300)}`,
    );
  report.closed += 1;
}

function randomRequest(random: Random, id: string, report: FuzzReport): string {
  const rubbish = random() < 0.5 ? randomRubbish(random) : undefined;
  if (rubbish !== undefined) report.fromWorkers += 1;
  const params =
    rubbish === undefined
      ? randomObject(random, {}).trim()
      : JSON.stringify({ rubbish: rubbish.toString('base64') });
  return randomObject(random, {
    id: JSON.stringify(id),
    ...(random() < 0.9 && { method: '"x"' }),
    ...(random() < 0.8 && { params: random() < 0.3 && rubbish === undefined ? nestedDecoy(random) : params }),
    ...(random() < 0.5 && { jsonrpc: '"2.0"' }),
    ...(random() < 0.3 && { sessionId: JSON.stringify(`s-${id}`) }),
  });
}

/** Keys that would matter one level up. */
function nestedDecoy(random: Random): string {
  return randomObject(random, {
    id: '7',
    method: '"bus/stats"',
    result: '1',
    error: 'null',
    pool: '"none"',
  }).trim();
}

/** Whatever a worker might print: no message at all, or one that nobody waits for. */
function randomRubbish(random: Random): Buffer {
  const like = randomObject(random, { id: '"nobody"', result: randomValue(random) });
  return random() < 0.3 ? Buffer.from(like) : breakLine(random, like);
}

/** Surely wrong: no JSON, or JSON that is no object, or an object without a single routing field. */
function randomWrong(random: Random): Buffer {
  for (;;) {
    const line =
      random() < 0.15
        ? Buffer.from(randomValue(random))
        : breakLine(random, randomObject(random, { id: '1', method: '"x"' }));
    if (line.length > 0 && isWrong(line)) return line;
  }
}

function isWrong(line: Buffer): boolean {
  const text = line.toString('utf8');
  if (!Buffer.from(text).equals(line)) return false; // no UTF-8: forwarded or refused, either is right
  if (/^\r+$/.test(text)) return false; // a blank line, ended as some systems end lines
  try {
    const value = JSON.parse(text) as unknown;
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return true;
    return !['id', 'method', 'sessionId', 'params'].some((key) => Object.hasOwn(value, key));
  } catch {
    return text.charCodeAt(0) !== 0xfe_ff || text.length > 1;
  }
}
