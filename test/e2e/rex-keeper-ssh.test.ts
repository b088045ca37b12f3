// Kept connections through a real sshd.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../helpers/proc.js';
import { rexHome } from '../helpers/rex.js';
import { needsSshd } from '../helpers/needs-sshd.js';
import { startSshd } from '../helpers/sshd.js';
import { until } from '../helpers/wait.js';

needsSshd();

test('calls through ssh use a kept connection, and what a killed call ran there ends', async () => {
  await using sshd = await startSshd();
  await using home = rexHome('5m');
  mkdirSync(join(home.folder, '.config/rexd'), { recursive: true });
  const targets = join(home.folder, 'targets.json');
  writeFileSync(targets, JSON.stringify({ version: 1, targets: { box: sshd.target() } }));
  const env = { REXD_TARGETS_FILE: targets };
  const first = await home.rex(['exec', 'box', '--', 'sh', '-c', 'echo over; exit 5'], { env });
  expect([first.stdout, first.code, first.stderr]).toEqual(['over\n', 5, '']);
  await home.ready();
  // A keeper that is not heard in time is done without: on a busy machine some calls may be.
  let n = 0;
  await until(async () => {
    n += 1;
    expect((await home.rex(['exec', 'box', '--', 'echo', `${n}`], { env })).stdout).toBe(`${n}\n`);
    return (await home.kept()).some(({ alias, used }) => alias === 'box' && used >= 2);
  }, 'two calls by one keeper');
  await using call = home.start(['exec', 'box', '--', 'sh', '-c', 'sleep 300 & echo $!; wait'], { env });
  const pid = Number(await call.line());
  call.child.kill('SIGKILL');
  await call.ended;
  await until(() => !isAlive(pid), 'the child on the other side to end');
});
