import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { isAlive } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

test('works from one bundled file, and a host that is killed leaves no program on its terminals', async () => {
  const dir = mkdtempSync(join('node_modules', '.bundle-')); // below it, so that the add-on is found from there
  const file = join(dir, 'terminal-host.js');
  execFileSync('node_modules/.bin/esbuild', [
    'test/fixtures/pty/terminal-host.ts',
    `--outfile=${file}`,
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--target=node20',
    '--external:@lydell/node-pty',
    '--log-level=error',
  ]);
  const host = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(host.stdout), 'line')) as [string];
  const program = Number(line);
  expect(isAlive(program)).toBe(true);
  host.kill('SIGKILL');
  await once(host, 'exit');
  await until(() => !isAlive(program), 'the program to end with its terminal');
  removeFolder(dir);
});
