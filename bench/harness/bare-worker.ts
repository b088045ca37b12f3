// The limit of a case as a process: bare calls and bare pipes, with no protocol, no policy and no checks around them.

import { bundle } from './bundle.js';
import { BenchChild } from './child.js';
import type { Cleanup } from './cleanup.js';
import { treeCpuMs } from './cpu-time.js';
import { medianTripMs } from './latency.js';
import { LineClient } from './line-client.js';
import type { Contender } from './types.js';

export interface BareJob {
  /** As `bundled/bare-work.ts` understands it, its newline and content included. */
  readonly request: Buffer;
  readonly answerBytes: number;
}

export class BareWorker {
  readonly #client: LineClient;
  readonly #pid: number;

  static async start(cleanup: Cleanup): Promise<BareWorker> {
    const path = await bundle(new URL('../bundled/bare-work.ts', import.meta.url));
    return new BareWorker(cleanup.use(await BenchChild.start('bare work', [process.execPath, path])));
  }

  private constructor(child: BenchChild) {
    this.#client = new LineClient(child);
    this.#pid = child.pid;
  }

  contender(name: string, job: BareJob): Contender {
    return this.#as(name, (ops) => this.#repeat(job, ops));
  }

  /** Its time is the median of single round trips. */
  latency(name: string, job: BareJob): Contender {
    return this.#as(name, async (ops) => (await medianTripMs(this.#client, () => [job.request], ops)) * ops);
  }

  #as(name: string, run: Contender['run']): Contender {
    return { name, role: 'limit', run, cpuMs: () => treeCpuMs(this.#pid), pid: this.#pid };
  }

  #repeat({ request, answerBytes }: BareJob, ops: number): Promise<void> {
    let left = ops;
    let missing = answerBytes;
    return this.#client.converse('no answer to some bare work', ({ write, resolve }) => {
      write(request);
      return (chunk) => {
        missing -= chunk.length;
        if (missing > 0) return;
        left -= 1;
        missing = answerBytes;
        if (left === 0) resolve();
        else write(request);
      };
    });
  }
}
