// A client of pty.*: terminals opened, typed into, and read as they are shown.

import { until } from '../../helpers/wait.js';
import { dataOf, type Event, type ExecClient } from './exec-client.js';

const WAIT_MS = 60_000;

export class Terminal {
  readonly client: ExecClient;
  readonly ptyId: string;
  readonly processId: string;

  static async open(client: ExecClient, params: Record<string, unknown>): Promise<Terminal> {
    return new Terminal(client, await client.ask('pty.open', params));
  }

  constructor(client: ExecClient, opened: Record<string, unknown>) {
    this.client = client;
    this.ptyId = String(opened['pty_id']);
    this.processId = String(opened['process_id']);
  }

  get events(): readonly Event[] {
    return this.client.events(this.processId);
  }

  /** All that was shown so far. */
  get shown(): Buffer {
    return dataOf(this.events, 'pty.output');
  }

  async type(data: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return await this.client.ask('pty.input', { pty_id: this.ptyId, data, ...more });
  }

  /** Resolves when `text` is on the screen; gives all that was shown so far. */
  async shows(text: string): Promise<string> {
    return await until(
      () => {
        const all = this.shown.toString('utf8');
        return all.includes(text) && all;
      },
      `${JSON.stringify(text)} on the terminal`,
      WAIT_MS,
    );
  }

  /** The params of its pty.exit, once it has come. */
  async exit(): Promise<Record<string, unknown>> {
    return (await this.client.event(this.processId, 'pty.exit')).params;
  }

  async close(): Promise<Record<string, unknown>> {
    return await this.client.ask('pty.close', { pty_id: this.ptyId });
  }
}

/** Shows what a command prints on a terminal, to its end. */
export async function showCommand(
  client: ExecClient,
  command: string,
  more: Record<string, unknown> = {},
): Promise<{ text: string; exit: Record<string, unknown> }> {
  const terminal = await Terminal.open(client, { shell: true, command, ...more });
  const exit = await terminal.exit();
  return { text: terminal.shown.toString('utf8'), exit };
}
