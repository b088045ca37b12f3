// `npm start`, and that nothing of it stays behind when npm is killed.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { descendants, isAlive, killAll } from '../helpers/proc.js';
import { Program } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';
import { until } from '../helpers/wait.js';

test('npm that is killed leaves no daemon behind', async () => {
  const root = mkdtempSync(join(tmpdir(), 'npm-start-'));
  await using npm = new Program(['npm', 'start', '--', '--port', '0'], {
    env: { HOME: root, STRING_ROOT: root, STRING_PORT: '' },
  });
  while (!((await npm.line()) ?? 'stringd is running').startsWith('stringd is running'));
  const below = descendants(npm.child.pid as number);
  try {
    expect(below.map(({ command }) => command).join('\n')).toContain('stringd.js');
    npm.child.kill('SIGKILL');
    await until(() => below.every(({ pid }) => !isAlive(pid)), 'the end of all that npm had started');
  } finally {
    killAll(below, 'SIGKILL');
  }
  removeFolder(root);
});
