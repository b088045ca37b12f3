// Commands of one agent in this process, as the daemon runs them: for suites that ask what a document costs.

import { openLog } from '../../src/base/log.js';
import { Runtime } from '../../src/string/runtime.js';
import type { RuntimeServices } from '../../src/string/services.js';
import { parseTopic } from '../../src/string/topic.js';

export interface Opened extends AsyncDisposable {
  /** The length of what was shown. Throws when the command failed. */
  run(cmd: string): Promise<number>;
}

export function openRuntime(home: string, dataDir: string): Opened {
  const runtime = new Runtime({
    agent: { id: 'bench', home, allowedPaths: [] },
    dataDir,
    services: {} as RuntimeServices, // documents need nothing of the daemon
    log: openLog({ name: 'bench', level: 'silent' }),
  });
  const topic = parseTopic('main');
  if (topic === undefined) throw new Error('no topic');
  return {
    async run(cmd) {
      const { ok, content } = await runtime.run({ topic, cmd, signal: AbortSignal.timeout(60_000) });
      if (!ok) throw new Error(content);
      return content.length;
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}
