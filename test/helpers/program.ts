// A real program under test: started as its users start it, spoken to in lines, gone when the test ends.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const bin = (name: string): string =>
  fileURLToPath(new URL(`../../dist/bin/${name}.js`, import.meta.url));

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** A descriptor to be its standard input; then nothing can be written to it. */
  readonly stdin?: number;
}

const NEVER = Symbol('the output ended');
/** Long enough for a program that starts another one on a busy machine; what hangs is found by the test's own time. */
const LINE_TIMEOUT_MS = 60_000;
/** Whoever waits for the end of a program does not mind if it is silent until then: longer than any test may take. */
const END_TIMEOUT_MS = 400_000;

/** Reads the program's stdout as lines, in order; none is lost between two calls of `line`. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ending>;
  stderr = '';
  readonly #lines: string[] = [];
  readonly #waiting: ((line: string | typeof NEVER) => void)[] = [];
  #over = false;

  constructor(command: readonly [string, ...string[]], options: ProgramOptions = {}) {
    const [program, ...args] = command;
    const child = spawn(program, args, {
      stdio: [options.stdin ?? 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    });
    this.child = child as ChildProcessByStdio<Writable, Readable, Readable>;
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
    child.stdin?.on('error', () => {}); // a program that ends first is told of by `ended`
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#readLines();
  }

  /** Writes exactly these bytes. */
  write(bytes: string | Uint8Array): void {
    this.child.stdin.write(bytes);
  }

  /** Closes the program's input. */
  endInput(): void {
    this.child.stdin.end();
  }

  /** The next line of output, or undefined when the output has ended. */
  async line(timeoutMs = LINE_TIMEOUT_MS): Promise<string | undefined> {
    const ready = this.#lines.shift();
    if (ready !== undefined) return ready;
    if (this.#over) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const found = await new Promise<string | typeof NEVER>((resolve, reject) => {
      this.#waiting.push(resolve);
      timer = setTimeout(
        () => reject(new Error(`no line within ${timeoutMs} ms; stderr: ${this.stderr}`)),
        timeoutMs,
      );
    });
    clearTimeout(timer);
    return found === NEVER ? undefined : found;
  }

  /** Every line until the output ends. */
  async rest(): Promise<string[]> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.line(END_TIMEOUT_MS);
      if (line === undefined) return lines;
      lines.push(line);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  #readLines(): void {
    let held = Buffer.alloc(0);
    this.child.stdout.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      for (let at = held.indexOf(10); at !== -1; at = held.indexOf(10)) {
        this.#deliver(held.subarray(0, at).toString('utf8'));
        held = held.subarray(at + 1);
      }
    });
    this.child.stdout.on('close', () => {
      if (held.length > 0) this.#deliver(held.toString('utf8'));
      this.#over = true;
      for (const waiter of this.#waiting.splice(0)) waiter(NEVER);
    });
  }

  #deliver(line: string): void {
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#lines.push(line);
    else waiter(line);
  }
}

export interface RunResult extends Ending {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export async function run(
  command: readonly [string, ...string[]],
  options: ProgramOptions & { input?: string } = {},
): Promise<RunResult> {
  await using program = new Program(command, options);
  program.child.stdin.end(options.input ?? '');
  const lines = await program.rest();
  const ending = await program.ended;
  return { ...ending, stdout: lines.map((line) => `${line}\n`).join(''), stderr: program.stderr };
}
