// `kill -9` of the daemon: no shell is left, and what was acknowledged is there.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openLog } from '../../../src/base/log.js';
import { Runtime } from '../../../src/string/runtime.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { fakeServices } from './fake-services.js';
import { topicOf } from './place.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const HOST = fileURLToPath(new URL('../../fixtures/string/shell-host.ts', import.meta.url));

test('shells end with the daemon, topics do not', { timeout: 120_000 }, async () => {
  const host = spawn(process.execPath, ['--import', 'tsx', HOST], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(host.stdout), 'line')) as [string];
  const { pids, home, dataDir } = JSON.parse(line) as { pids: number[]; home: string; dataDir: string };
  try {
    expect(pids).toHaveLength(3);
    expect(pids.every(isAlive)).toBe(true);
    host.kill('SIGKILL');
    await once(host, 'exit');
    await until(() => !pids.some(isAlive), 'the end of the shell');
    const agent = { id: 'default', home, allowedPaths: [] };
    const log = openLog({ name: 'test', level: 'silent' });
    await using runtime = new Runtime({ agent, dataDir, services: fakeServices(), log });
    const run = (topic: string, cmd: string) =>
      runtime.run({ topic: topicOf(topic), cmd, signal: AbortSignal.timeout(30_000) });
    expect((await run('main', '/set')).content).toBe('Variables\n---\n{city} = "Seoul"');
    expect((await run('main', '/topics bash')).content).toContain('bash:dev  bash  (no shell)');
    expect(existsSync(join(dataDir, 'shells/default'))).toBe(false);
    expect(await run('bash:dev', 'echo new')).toMatchObject({ ok: true });
  } finally {
    host.kill('SIGKILL');
    removeFolder(dirname(home));
  }
});
