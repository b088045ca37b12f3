// What the guide to the daemon tells people to type works as it is written.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DaemonUnderTest, TOKEN } from '../helpers/daemon.js';
import { run } from '../helpers/program.js';

const GUIDE = readFileSync(new URL('../../docs/guide/daemon.md', import.meta.url), 'utf8');

test('every block of commands for a running daemon runs', async () => {
  await using daemon = await DaemonUnderTest.start();
  const blocks = [...GUIDE.matchAll(/^```sh runnable\n(.*?)^```/gms)].map(([, text]) => text ?? '');
  expect(blocks).toHaveLength(2);
  const env = { REXD_URL: daemon.url, REXD_TOKEN: TOKEN };
  const { code, stdout, stderr } = await run(['bash', '-euc', blocks.join('\n')], { env, cwd: daemon.base });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('"exit_code":0');
  expect(stdout).toContain('Linux');
  expect(stdout).toContain('rexd_sessions 0');
});
