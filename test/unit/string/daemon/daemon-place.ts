// A daemon of its own in this process, on a free port and in a folder of its own.

import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../../../src/base/log.js';
import { readConfig } from '../../../../src/string/config.js';
import { StringDaemon, type StringDaemonOptions } from '../../../../src/string/daemon/daemon.js';
import { type Ask, ask, OpenStream, type Reply } from '../../../helpers/http-ask.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

export interface DaemonPlace extends AsyncDisposable {
  readonly daemon: StringDaemon;
  readonly url: string;
  readonly root: string;
  readonly stops: number[];
  readonly ask: (path: string, options?: Ask) => Promise<Reply>;
  /** One command of the agent `me`, by /exec. */
  exec(topic: string, cmd: string, more?: Record<string, unknown>): Promise<Reply>;
  stream(path: string, options?: Ask): OpenStream;
  /** The same data, another daemon. */
  restart(): Promise<void>;
}

export const ME = { 'X-Agent-Id': 'me' };

export async function openDaemon(
  options: Partial<StringDaemonOptions> & { env?: Record<string, string> } = {},
): Promise<DaemonPlace> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stringd-')));
  const root = join(folder, 'root');
  const stops: number[] = [];
  const config = { ...readConfig({ HOME: folder, STRING_ROOT: root, ...options.env }), port: 0 };
  const open = (): Promise<StringDaemon> =>
    StringDaemon.open({
      config,
      log: openLog({ name: 'test', level: 'silent' }),
      onStop: () => stops.push(Date.now()),
      ...options,
    });
  let daemon = await open();
  const register = (): Promise<Reply> => ask(daemon.url, '/agents', { json: { agent_id: 'me' } });
  await register();
  return {
    get daemon() {
      return daemon;
    },
    get url() {
      return daemon.url;
    },
    root,
    stops,
    ask: (path, given) => ask(daemon.url, path, given),
    exec: (topic, cmd, more = {}) => ask(daemon.url, '/exec', { headers: ME, json: { topic, cmd, ...more } }),
    stream: (path, given) => new OpenStream(daemon.url, path, given),
    async restart() {
      await daemon.close();
      daemon = await open();
    },
    async [Symbol.asyncDispose]() {
      await daemon.close();
      removeFolder(folder);
    },
  };
}
