// A server that was copied alone: into an empty folder, with no environment to speak of, far from any node_modules.

import { copyFileSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Program } from './program.js';
import { removeFolder } from './remove-folder.js';

type Message = Readonly<Record<string, unknown>>;

export class Alone implements AsyncDisposable {
  readonly root: string;
  readonly program: Program;
  readonly events: { readonly method: string; readonly params: Message }[] = [];
  readonly #folder: string;
  #lastId = 0;

  /** `before`: what runs the file, when it does not run by itself. */
  constructor(file: string, before: readonly string[] = []) {
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-alone-')));
    this.root = join(this.#folder, 'root');
    const copy = join(this.#folder, basename(file));
    copyFileSync(file, copy);
    for (const name of ['root', 'home']) mkdirSync(join(this.#folder, name));
    const variables = ['PATH=/usr/local/bin:/usr/bin:/bin', `HOME=${join(this.#folder, 'home')}`];
    const command = [...before, copy, '--stdio', '--root', this.root];
    this.program = new Program(['env', '-i', ...variables, ...command], { cwd: this.root });
  }

  /** Its result; an error of the server is thrown as it came. */
  async call(method: string, params: Message): Promise<Message> {
    const id = (this.#lastId += 1);
    this.program.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const message = await this.#next();
      if (message['id'] !== id) continue;
      if (message['result'] === undefined) throw new Error(JSON.stringify(message['error']));
      return message['result'] as Message;
    }
  }

  /** Events up to the first of this kind. */
  async until(method: string): Promise<Message> {
    for (let at = 0; ; at++) {
      while (this.events.length <= at) await this.#next();
      if (this.events[at]?.method === method) return this.events[at]?.params as Message;
    }
  }

  async untilText(method: string, text: string): Promise<void> {
    while (!this.textOf(method).includes(text)) await this.#next();
  }

  textOf(method: string): string {
    return this.events
      .filter((event) => event.method === method)
      .map(({ params }) => params['data'])
      .join('');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]();
    removeFolder(this.#folder);
  }

  async #next(): Promise<Message> {
    const line = await this.program.line();
    if (line === undefined) throw new Error(`the server has ended: ${this.program.stderr}`);
    const message = JSON.parse(line) as Message;
    if (message['id'] === undefined) this.events.push(message as never);
    return message;
  }
}
