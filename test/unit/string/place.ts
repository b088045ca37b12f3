// A runtime in a folder of its own, and a short way to run a command in it.

import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from '../../../src/base/log.js';
import { type CommandOutcome, Runtime, type RuntimeOptions } from '../../../src/string/runtime.js';
import { parseTopic, type Topic } from '../../../src/string/topic.js';
import { type FakeDaemon, fakeServices } from './fake-services.js';
import { removeFolder } from '../../helpers/remove-folder.js';

export interface Place extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly services: FakeDaemon;
  readonly home: string;
  /** Beside the home; only what is in `allowedPaths` may be reached there. */
  readonly outside: string;
  readonly dataDir: string;
  readonly run: (
    topic: string,
    cmd: string,
    more?: { signal?: AbortSignal; emit?: (chunk: string) => void },
  ) => Promise<CommandOutcome>;
  /** The same agent after the daemon was started again. */
  restart(): Promise<void>;
}

export function topicOf(raw: string): Topic {
  const topic = parseTopic(raw);
  if (topic === undefined) throw new Error(`no topic: ${raw}`);
  return topic;
}

export function makePlace(options: Partial<RuntimeOptions> & { allow?: readonly string[] } = {}): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'string-')));
  const [home, outside, dataDir] = ['home', 'outside', 'data'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(home);
  mkdirSync(outside);
  const services = fakeServices();
  const agent = {
    id: 'default',
    home,
    allowedPaths: (options.allow ?? []).map((name) => join(folder, name)),
  };
  services.known.set(agent.id, agent);
  const log = openLog({ name: 'test', level: 'silent' });
  const start = (): Runtime => new Runtime({ agent, dataDir, services, log, ...options });
  let runtime = start();
  return {
    get runtime() {
      return runtime;
    },
    services,
    home,
    outside,
    dataDir,
    run: (topic, cmd, more = {}) =>
      runtime.run({ topic: topicOf(topic), cmd, signal: AbortSignal.timeout(60_000), ...more }),
    async restart() {
      await runtime.close();
      runtime = start();
    },
    async [Symbol.asyncDispose]() {
      await runtime.close();
      removeFolder(folder);
    },
  };
}
