// Programs that share a store with others: each fixture is bundled once, so that starting many of them is cheap.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { removeFolder } from '../../../helpers/remove-folder.js';

export class Programs implements Disposable {
  readonly #dir = mkdtempSync(join('node_modules', '.bundle-')); // below it, so that the driver is found from there
  readonly #file: string;

  constructor(fixture: string) {
    this.#file = join(this.#dir, `${fixture}.js`);
    execFileSync('node_modules/.bin/esbuild', [
      `test/fixtures/store/${fixture}.ts`,
      `--outfile=${this.#file}`,
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--target=node20',
      '--external:libsql',
      '--log-level=error',
    ]);
  }

  start(...args: string[]): Running {
    return new Running(
      spawn(process.execPath, [this.#file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
  }

  [Symbol.dispose](): void {
    removeFolder(this.#dir);
  }
}

export class Running {
  /** What it has said so far, line by line; a line that was cut off by its death is not one. */
  readonly lines: string[] = [];
  readonly pid: number;
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess & { readonly stdout: Readable }) {
    this.#child = child;
    this.pid = child.pid as number;
    let rest = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n');
      rest = parts.pop() ?? '';
      this.lines.push(...parts);
    });
    this.ended = once(child, 'close').then(([code]) => code as number | null);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}
