// A shell that stays: one bash on a terminal of its own, which tells the end of each command by a pipe of its own.

import { readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { deadline, withSignal } from '../../base/deadline.js';
import { LocalError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { ReplayBuffer } from '../../base/replay-buffer.js';
import { ClosedError, Resource } from '../../base/resource.js';
import { makeFolders } from '../../host/make-folders.js';
import { openPty } from '../../host/pty/open-pty.js';
import { readBlockedCall } from '../../host/pty/proc-syscall.js';
import type { Pty, PtyExit } from '../../host/pty/pty.js';
import { askLine, helloLine, MAX_TYPED_BYTES, runLine, START_SCRIPT, withoutOwnLines } from './bash-lines.js';
import { type ControlMessage, ControlPipe } from './control-pipe.js';
import { exitStatusOf } from './exit-status.js';
import { findForeground, type Foreground } from './foreground.js';
import { ScreenText } from './screen-text.js';
import { newReport, Submission } from './submission.js';

/** For a new shell to say its first word. */
export const SHELL_START_MS = 5000;
/** Between the word that a command has ended and the mark behind its output: both are on their way at the same time. */
export const MARK_WAIT_MS = 500;
/** For the prompt after a command that has ended; without it the next one is typed all the same. */
export const PROMPT_WAIT_MS = 500;
/** A new shell that is not seen at its prompt for so long is not looked at again. */
const PROMPT_LOOK_MS = 3000;
const LONGEST_PAUSE_MS = 20;
/** What `//tail` can show. */
export const RECENT_BYTES = 256 * 1024;

export const CTRL_C = '\u0003';

const COLS = 200;
const ROWS = 24;

export class ShellBusyError extends LocalError {
  override readonly name = 'ShellBusyError';

  constructor() {
    super('shell_busy', 'the shell is still busy with another command');
  }
}

export interface ShellOptions {
  /** Where the shell begins, and its HOME. */
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A folder for the text of commands, of this shell alone. */
  readonly folder: string;
  readonly spoolDir: string;
}

export class BashShell extends Resource {
  readonly #options: ShellOptions;
  readonly #folder: string;
  readonly #file: string;
  readonly #recent = new ReplayBuffer(RECENT_BYTES);
  readonly #screen = new ScreenText();
  readonly #decoder = new StringDecoder('utf8');
  #pty: Pty | undefined;
  #control: ControlPipe | undefined;
  #current: Submission | undefined;
  #lines = 0;
  /** The last line that has come back to its prompt. */
  #promptLine = -1;
  #promptSeen: (() => void) | undefined;
  /** The last line that Ctrl-C was typed to. */
  #interruptedLine = -1;
  #lastStatus = 0;
  #cwd: string;
  #pumping: Promise<void> = Promise.resolve();
  /** How the shell waits at its prompt, as the kernel sees it; undefined where that cannot be seen. */
  #promptCall: string | undefined;

  /** Rejects with LaunchError, PtyUnavailableError, NoControlPipeError or TimeoutError. */
  static async start(options: ShellOptions): Promise<BashShell> {
    const shell = new BashShell(options);
    try {
      await shell.#start();
      return shell;
    } catch (error) {
      await shell.close();
      throw error;
    }
  }

  private constructor(options: ShellOptions) {
    super();
    this.#options = options;
    this.#cwd = options.cwd;
    this.#folder = join(options.folder, newId('sh'));
    this.#file = join(this.#folder, 'input');
  }

  get pid(): number | undefined {
    return this.#pty?.pid;
  }

  get alive(): boolean {
    return this.#pty?.running === true && !this.closing;
  }

  get cwd(): string {
    return this.#cwd;
  }

  get lastStatus(): number {
    return this.#lastStatus;
  }

  /** The command that has not ended yet. */
  get current(): Submission | undefined {
    return this.#current?.over === false ? this.#current : undefined;
  }

  /** Undefined when nobody can know. */
  get waitsForInput(): boolean | undefined {
    return this.#pty?.isWaitingForInput() ?? false;
  }

  /** Undefined when nobody can know. */
  get foreground(): Foreground | undefined {
    return this.pid === undefined ? undefined : findForeground(this.pid);
  }

  /** Whether it is back at its prompt, by the word of the kernel: a program, or `read`, waits in another way. */
  get isAtPrompt(): boolean {
    const call = this.#promptCall;
    return (
      call !== undefined &&
      this.foreground?.isShell === true &&
      call === promptCallOf(readBlockedCall(this.pid ?? 0))
    );
  }

  /** Types it in, as one command. Throws ShellBusyError while another has not ended. */
  async submit(text: string, emit?: (lines: string) => void): Promise<Submission> {
    if (this.current !== undefined) throw new ShellBusyError();
    await this.#untilPrompt();
    if (this.current !== undefined) throw new ShellBusyError();
    makeFolders(this.#folder);
    writeFileSync(this.#file, `${text}\n`, { mode: 0o600 });
    const submission = this.#begin();
    submission.emit = emit;
    await this.#type(runLine(this.#file, this.#lastStatus, submission.report));
    return submission;
  }

  /** As if somebody had typed it. */
  async type(text: string): Promise<void> {
    if (this.#pty === undefined) throw new ClosedError('shell');
    if (this.#current !== undefined) this.#current.lastActivityMs = performance.now();
    if (text === CTRL_C) this.#interruptedLine = this.#lines;
    await this.#pty.write(Buffer.from(text, 'utf8'));
  }

  /** The last lines of all that was ever printed, and the one that has not ended. */
  recent(): string {
    const { data } = this.#recent.since(0);
    const from = this.#recent.start === 0 ? 0 : data.indexOf(0x0a) + 1;
    return data.toString('utf8', from) + (this.current?.output.pending ?? this.#screen.pending);
  }

  protected async release(): Promise<void> {
    try {
      await this.#pty?.close();
      await this.#pumping;
    } finally {
      this.#control?.close();
      this.#current?.shellEnded(exitStatusOf({ code: null, signal: 'SIGHUP' }));
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  async #start(): Promise<void> {
    const { env, home, cwd } = this.#options;
    this.#control = await ControlPipe.open((message) => this.#told(message));
    this.#pty = await openPty({
      argv: ['/bin/bash', '-c', START_SCRIPT],
      cwd,
      env: { ...env, HOME: home, TERM: 'dumb', PS1: '', PS2: '', HISTFILE: '' },
      cols: COLS,
      rows: ROWS,
      handed: this.#control.writeFd,
    });
    this.#control.handOver();
    this.#pumping = this.#pump(this.#pty);
    void this.#pty.exited.then((exit) => this.#shellEnded(exit));
    using limit = deadline(SHELL_START_MS);
    await withSignal(Promise.race([this.#untilPrompt(SHELL_START_MS), this.#pty.exited]), limit.signal);
    const hello = this.#begin();
    await withSignal(this.#type(helloLine(hello.report)), limit.signal);
    await withSignal(hello.ended, limit.signal);
    if (!this.alive) throw new ClosedError('shell');
    await this.#learnPrompt();
  }

  /** It has told of its first line, and now reads the next: mostly it is there already. */
  async #learnPrompt(): Promise<void> {
    const end = performance.now() + PROMPT_LOOK_MS;
    for (let pauseMs = 0; performance.now() < end; pauseMs = Math.min(pauseMs + 1, LONGEST_PAUSE_MS)) {
      await delay(pauseMs);
      const call = readBlockedCall(this.pid ?? 0);
      this.#promptCall = promptCallOf(call);
      if (this.#promptCall !== undefined || call === undefined) return;
    }
  }

  #begin(): Submission {
    // The shell says where it has read a command; nobody but us knows that place.
    const report = newReport((this.#lines += 1));
    const rewrite = (lines: string): string =>
      withoutOwnLines(lines, this.#file, report.nonce)
        .replaceAll(`bash: ${this.#file}: `, 'bash: ')
        .replaceAll(`${this.#file}: `, 'bash: ');
    const { spoolDir } = this.#options;
    this.#current = new Submission(report, { spoolDir, rewrite }, (lines) => this.#remember(lines));
    return this.#current;
  }

  async #type(line: string): Promise<void> {
    if (Buffer.byteLength(line) > MAX_TYPED_BYTES)
      throw new LocalError('line_too_long', 'the folder for shells has too long a name');
    await this.type(line);
  }

  async #pump(pty: Pty): Promise<void> {
    for await (const { data } of pty.output()) {
      const submission = this.current;
      const idle = submission === undefined ? data : submission.push(data);
      if (idle !== undefined)
        this.#remember(withoutOwnLines(this.#screen.push(this.#decoder.write(idle)), this.#file));
      await submission?.output.caughtUp;
    }
  }

  #remember(lines: string): void {
    this.#recent.append(Buffer.from(lines, 'utf8'));
  }

  #told(message: ControlMessage): void {
    const submission = this.current;
    if (message.kind === 'prompt') {
      this.#promptLine = Math.max(this.#promptLine, message.line);
      this.#promptSeen?.();
      // Back at the prompt without a word about the command: it was broken off.
      if (submission !== undefined && !submission.completed && this.#isBrokenOff(submission, message.line))
        void this.#type(askLine(submission.report)).catch(() => {});
      return;
    }
    if (submission === undefined || message.nonce !== submission.report.nonce) return;
    this.#lastStatus = message.status;
    this.#cwd = this.#whereReally(message.cwd);
    submission.complete(message.status);
    if (submission.over) return;
    // Where we were held up ourselves, it is read before it is given up.
    const giveUp = (): void => void (submission.over || submission.giveUpOnMark());
    const timer = setTimeout(() => setImmediate(giveUp), MARK_WAIT_MS);
    void submission.ended.then(() => clearTimeout(timer));
  }

  /** Ctrl-C also takes away what was typed and not read yet: then the prompt is that of a line before. */
  #isBrokenOff({ report }: Submission, promptLine: number): boolean {
    return promptLine === report.line || (promptLine < report.line && this.#interruptedLine === report.line);
  }

  /** `$PWD` is how the shell came there; but it is a variable, and only the kernel knows. */
  #whereReally(told: string): string {
    let real: string;
    try {
      real = readlinkSync(`/proc/${this.#pty?.pid ?? 0}/cwd`);
    } catch {
      return told === '' ? this.#cwd : told; // no /proc
    }
    return told === real || leadsTo(told, real) ? told : real;
  }

  async #untilPrompt(waitMs = PROMPT_WAIT_MS): Promise<void> {
    if (this.#promptLine >= this.#lines) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#promptSeen = () => {
        if (this.#promptLine < this.#lines) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#promptSeen = undefined;
  }

  #shellEnded(exit: PtyExit): void {
    void this.#pumping.then(() => this.#current?.shellEnded(exitStatusOf(exit)));
    this.close().catch(() => {}); // whoever cannot be killed is told to those who close it, and to nobody else
  }
}

/** A read of the terminal, and where it reads to, which is the same at every prompt. */
function promptCallOf(call: ReturnType<typeof readBlockedCall>): string | undefined {
  if (call === undefined || call === 'none' || call.args[0] !== 0) return undefined;
  return [call.number, ...call.args.slice(0, 3)].join(' ');
}

function leadsTo(path: string, real: string): boolean {
  try {
    return realpathSync(path) === real;
  } catch {
    return false;
  }
}
