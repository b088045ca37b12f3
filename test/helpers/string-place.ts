// A place of its own for programs that start a stringd by themselves: folders, a port, and the end of what was started.

import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringClient, type StringClientOptions } from '../../src/client/string/string-client.js';
import { freePort } from './free-port.js';
import { markedWith } from './proc.js';
import { bin } from './program.js';
import { removeFolder } from './remove-folder.js';
import { until } from './wait.js';

/** On a machine that has much else to do. */
const PATIENCE_MS = 60_000;

export class StringPlace implements AsyncDisposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-string-')));
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;

  static async make(): Promise<StringPlace> {
    return new StringPlace(await freePort());
  }

  constructor(port: number) {
    this.port = port;
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      STRING_PORT: String(port),
      STRING_ROOT: join(this.folder, 'string'),
      STRING_DATA_DIR: join(this.folder, 'string/daemon'),
      HAWSER_MARK: process.env['HAWSER_MARK'] ?? '',
    };
  }

  /** One that starts the built stringd. */
  client(options: StringClientOptions = {}): StringClient {
    const command = [process.execPath, bin('stringd')];
    const autoStart = { command, env: { ...this.env }, timeoutMs: PATIENCE_MS };
    return new StringClient({ port: this.port, agentId: 'me', autoStart, ...options });
  }

  /** The daemons of this place, wherever they were started from. */
  daemons(): number[] {
    return markedWith('STRING_ROOT', this.env['STRING_ROOT'] ?? '')
      .filter(({ command }) => command.includes('stringd'))
      .map(({ pid }) => pid);
  }

  async stop(): Promise<void> {
    const client = this.client({ autoStart: false });
    const isGone = async (): Promise<boolean> => {
      // On a busy machine a daemon may be too late for a ping, or not listen yet.
      if (this.daemons().length > 0) await client.shutdown().catch(() => {});
      return this.daemons().length === 0;
    };
    await until(isGone, 'its process to end', PATIENCE_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    removeFolder(this.folder);
  }
}
