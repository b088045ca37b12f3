// Files through a rexd: one round trip of fs.stat, reads and durable writes, beside the bare calls.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BareWorker } from '../../harness/bare-worker.js';
import { medianTripMs } from '../../harness/latency.js';
import type { Case, Contender } from '../../harness/types.js';
import type { Daemon } from './daemon.js';
import { sourceText } from './workspace.js';

const KIB = 1024;
const MIB = 1024 * 1024;
const IN_FLIGHT = 64;
/** Long requests are encoded a few times only; one is under way at a time. */
const LONG_POOL_LINES = 4;

const READS = [
  { size: KIB, encoding: 'utf8', bound: 0.4 },
  { size: KIB, encoding: 'base64', bound: 0.4 },
  { size: MIB, encoding: 'utf8', bound: 0.15 },
  { size: MIB, encoding: 'base64', bound: 0.15 },
] as const;
const WRITES = [
  { size: KIB, bound: 0.5 },
  { size: MIB, bound: 0.3, peerBound: 3 },
];

export function statCases(daemons: readonly Daemon[], bare: BareWorker, root: string): Promise<Case[]> {
  const path = join(root, 'stat.ts');
  writeFileSync(path, sourceText(KIB));
  const request = Buffer.from(`stat ${path}\n`);
  return withPools(daemons, 'fs.stat', { path }, isFile, undefined, (asking) => [
    {
      name: 'fs.stat, median round trip',
      measure: 'time',
      unit: 'µs',
      scale: 1000,
      contenders: [
        bare.latency('bare lstat', { request, answerBytes: 1 }),
        ...asking.map(({ daemon, pool }) =>
          daemon.contender(async (ops) => (await medianTripMs(daemon.client, () => pool.take(1), ops)) * ops),
        ),
      ],
      targets: [{ contender: 'rexd', bound: 2.5 }],
      peerBound: 1.3,
      wallOnly: true,
    },
    rate(`fs.stat, ${IN_FLIGHT} in flight`, 'per second', 1, [
      bare.contender('bare lstat', { request, answerBytes: 1 }),
      ...asking.map(({ daemon, pool }) =>
        daemon.contender((ops) => daemon.client.exchange(pool, ops, IN_FLIGHT)),
      ),
    ]),
  ]);
}

export async function readCases(daemons: readonly Daemon[], bare: BareWorker, root: string): Promise<Case[]> {
  const cases: Case[] = [];
  for (const { size, encoding, bound } of READS) {
    const content = sourceText(size);
    const path = join(root, `read-${size}`);
    writeFileSync(path, content);
    // Small files whole, as clients read them; of large ones as much as was asked for, or the answer would be cut.
    const params = size < MIB ? { path, encoding } : { path, encoding, length: size };
    const isContent = (result: unknown): boolean =>
      (result as { content?: unknown }).content === content.toString(encoding);
    const [each] = await withPools(daemons, 'fs.read', params, isContent, undefined, (asking) => [
      {
        ...rate(`fs.read of ${sizeText(size)}, ${encoding}`, ...perSize(size), [
          bare.contender('bare read and pipe', { request: Buffer.from(`read ${path}\n`), answerBytes: size }),
          ...asking.map(oneAtATime),
        ]),
        targets: [{ contender: 'rexd', bound }],
        peerBound: 1.5,
      },
    ]);
    if (each !== undefined) cases.push(each);
  }
  return cases;
}

export async function writeCases(
  daemons: readonly Daemon[],
  bare: BareWorker,
  root: string,
): Promise<Case[]> {
  const cases: Case[] = [];
  for (const { size, bound, peerBound } of WRITES) {
    const content = sourceText(size);
    const path = join(root, `write-${size}`);
    const request = Buffer.concat([Buffer.from(`write ${size} ${path}-bare\n`), content]);
    const params = { path, content: content.toString(), encoding: 'utf8', mode: 'replace' };
    const isWhole = (result: unknown): boolean =>
      (result as { bytes_written?: unknown }).bytes_written === size;
    const [each] = await withPools(daemons, 'fs.write', params, isWhole, LONG_POOL_LINES, (asking) => [
      {
        ...rate(`fs.write of ${sizeText(size)}`, ...perSize(size), [
          bare.contender('bare write, rename, fsync of both', { request, answerBytes: 1 }),
          ...asking.map(oneAtATime),
        ]),
        targets: [{ contender: 'rexd', bound }],
        ...(peerBound !== undefined && { peerBound }),
      },
    ]);
    if (each !== undefined) cases.push(each);
  }
  return cases;
}

interface Asking {
  readonly daemon: Daemon;
  readonly pool: ReturnType<Daemon['requests']>;
}

/** Every daemon answers once, rightly, before any of it is measured. */
async function withPools(
  daemons: readonly Daemon[],
  method: string,
  params: object,
  accepts: (result: unknown) => boolean,
  poolLines: number | undefined,
  build: (asking: readonly Asking[]) => Case[],
): Promise<Case[]> {
  for (const daemon of daemons) await daemon.check(method, params, accepts);
  return build(daemons.map((daemon) => ({ daemon, pool: daemon.requests(method, params, poolLines) })));
}

function oneAtATime({ daemon, pool }: Asking): Contender {
  return daemon.contender((ops) => daemon.client.exchange(pool, ops, 1));
}

function rate(name: string, unit: string, scale: number, contenders: readonly Contender[]): Case {
  return { name, measure: 'rate', unit, scale, contenders, targets: [], wallOnly: true };
}

/** Small files by their number, large ones by their bytes. */
function perSize(size: number): [unit: string, scale: number] {
  return size < MIB ? ['per second', 1] : ['MiB/s', size / MIB];
}

function sizeText(size: number): string {
  return size < MIB ? `${size / KIB} KiB` : `${size / MIB} MiB`;
}

function isFile(result: unknown): boolean {
  return (result as { type?: unknown }).type === 'file';
}
