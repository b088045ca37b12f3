// A bus inside the test's own program, with real workers, and a client of it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LogFacts } from '../../../src/base/log.js';
import { type Bus, type BusOptions, createBus } from '../../../src/bus/bus.js';
import type { BusConfigInput } from '../../../src/bus/config/schema.js';
import { silentLog } from '../../../src/bus/silent-log.js';
import { makeScratch } from '../../helpers/scratch.js';
import { until } from '../../helpers/wait.js';

const WORKER = fileURLToPath(new URL('../../fixtures/bus-run/worker.mjs', import.meta.url));

export type PoolInput = BusConfigInput['pools'][number];

export function pool(more: Partial<PoolInput> & { readonly flags?: readonly string[] } = {}): PoolInput {
  const { flags = [], ...rest } = more;
  return { id: 'echo', command: process.execPath, args: [WORKER, ...flags], ...rest };
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data?: { readonly reason?: string } };
}

/** A client as anybody would write it: lines out, lines in, by id. */
export class Asker implements AsyncDisposable {
  readonly #stream: Duplex;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #last = 0;

  constructor(bus: Bus) {
    this.#stream = bus.connect();
    createInterface({ input: this.#stream }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
    });
  }

  async ask(method: string, params: object = {}, more: object = {}): Promise<Answer> {
    const id = (this.#last += 1);
    this.#stream.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params, ...more })}\n`);
    return await new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async result(method: string, params: object = {}): Promise<unknown> {
    return (await this.ask(method, params)).result;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#stream.destroy();
    return Promise.resolve();
  }
}

export interface Heard {
  readonly lines: string[];
  readonly said: { readonly level: string; readonly message: string; readonly facts: LogFacts }[];
}

export async function open(
  config: Partial<BusConfigInput> = {},
  more: Partial<BusOptions> = {},
): Promise<Bus & Heard> {
  const lines: string[] = [];
  const said: Heard['said'] = [];
  const at =
    (level: string) =>
    (message: string, facts: LogFacts = {}) =>
      void said.push({ level, message, facts });
  const log = { ...silentLog, info: at('info'), warn: at('warn'), error: at('error') };
  const bus = await createBus({
    config: { pools: [pool()], ...config },
    log,
    onStderr: (worker, line) => void lines.push(`${worker}: ${line}`),
    ...more,
  });
  return Object.assign(bus, { lines, said });
}

/** Of the worker that has taken the place of the one before; requests that the old one died of have no result. */
export async function anotherPid(client: Asker, before: unknown): Promise<unknown> {
  return await until(async () => {
    const pid = await client.result('pid');
    return pid !== before && pid;
  }, 'another worker');
}

/** A file that workers wait for. */
export function makeGate(): { readonly file: string; open(): void } {
  const file = join(makeScratch(), 'gate');
  return { file, open: () => writeFileSync(file, '') };
}

/** The requests have reached their workers, or wait for them to be up. */
export async function underWay(bus: Bus, count: number): Promise<void> {
  await until(() => bus.router.pending() === count, 'the requests to be under way');
}
