// What rex leaves running on a target: found, followed and ended by later calls; and the log of what was asked.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from '../helpers/proc.js';
import { rexHome } from '../helpers/rex.js';
import { until } from '../helpers/wait.js';

const home = rexHome();
afterAll(() => home[Symbol.asyncDispose]());

async function detach(script: string): Promise<string> {
  const { stdout, code } = await home.rex(['exec', 'local', '--detach', '--', 'sh', '-c', script]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^p_\w+\n$/)]);
  return stdout.trim();
}

interface Listed {
  readonly process_id: string;
  readonly status: string;
}

const list = async (...options: string[]): Promise<Listed[]> =>
  JSON.parse((await home.rex(['ps', 'local', '--json', ...options])).stdout) as Listed[];

test('a detached command is listed, read and followed to its end by later calls', async () => {
  const gate = join(home.folder, 'gate');
  const id = await detach(
    `echo one; echo two >&2; until [ -e ${gate} ]; do sleep 0.05; done; echo three; exit 9`,
  );
  expect(await list('--running')).toEqual([expect.objectContaining({ process_id: id, status: 'running' })]);
  expect((await home.rex(['ps'])).stdout).toMatch(new RegExp(`^ID .*COMMAND\n${id}  running`));
  await using follower = home.start(['attach', id]);
  expect(await follower.line()).toBe('one');
  writeFileSync(gate, '');
  expect(await follower.rest()).toEqual(['three']);
  expect([(await follower.ended).code, follower.stderr]).toEqual([9, 'two\n']);
  const logs = await home.rex(['logs', 'local', id]);
  expect([logs.stdout, logs.stderr]).toEqual(['one\nthree\n', 'two\n']);
  expect((await home.rex(['logs', id, '--stream', 'stdout', '--since-offset', '4'])).stdout).toBe('three\n');
  expect((await home.rex(['logs', id, '--tail', '2'])).stdout).toBe('e\n');
});

test('Ctrl-C leaves what is followed running; kill ends it and all it started', async () => {
  const id = await detach('sleep 300 & echo $!; wait');
  await using follower = home.start(['logs', id, '--follow']);
  const pid = Number(await follower.line());
  follower.child.kill('SIGINT');
  expect((await follower.ended).code).toBe(130);
  expect(isAlive(pid)).toBe(true);
  expect((await home.rex(['kill', id])).code).toBe(0);
  await until(() => !isAlive(pid), 'the child to end');
  expect(await list()).toContainEqual(expect.objectContaining({ process_id: id, status: 'killed' }));
});

test('another signal can be sent, and a wrong id is told', async () => {
  const id = await detach('trap "echo hup; exit 3" HUP; echo ready; while :; do sleep 0.05; done');
  await using follower = home.start(['attach', id]);
  expect(await follower.line()).toBe('ready');
  expect(JSON.parse((await home.rex(['--json', 'kill', id, '--signal', 'SIGHUP'])).stdout)).toEqual([
    { process_id: id, signal: 'HUP', ok: true },
  ]);
  expect(await follower.rest()).toEqual(['hup']);
  expect((await follower.ended).code).toBe(3);
  expect(await home.rex(['logs', 'p_nothing'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('rex: '),
  });
  expect(await home.rex(['kill', 'local', 'what'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('rex ps'),
  });
});

test('the audit log is shown, filtered, and followed', async () => {
  const config = join(home.folder, 'audited');
  mkdirSync(join(config, 'rexd'), { recursive: true });
  const path = JSON.stringify(join(home.folder, 'audit.log'));
  const root = JSON.stringify(home.folder);
  writeFileSync(
    join(config, 'rexd/config.toml'),
    `[audit]\nenabled = true\npath = ${path}\n[[security.allowed_roots]]\npath = ${root}\n`,
  );
  const audited = { env: { XDG_CONFIG_HOME: config } };
  await home.rex(['exec', 'local', '--', 'true'], audited);
  await home.rex(['exec', 'local', '--cwd', '/', '--', 'true'], audited);
  const lines = async (...options: string[]): Promise<{ method: string }[]> =>
    (await home.rex(['audit', '--json', ...options], audited)).stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { method: string });
  expect((await lines()).length).toBeGreaterThan(4);
  expect((await lines('--failed')).map(({ method }) => method)).toEqual(['exec.start']);
  expect((await lines('--method', 'exec.*')).every(({ method }) => method.startsWith('exec.'))).toBe(true);
  expect(await lines('--since', '2999-01-01')).toEqual([]);
  await using follower = home.start(['audit', '--follow', '--method', 'exec.exit'], audited);
  expect(await follower.line()).toContain('exec.exit');
  await home.rex(['exec', 'local', '--', 'false'], audited);
  expect(await follower.line()).toContain('exit 1');
  expect((await home.rex(['audit'])).stderr).toContain('keeps no audit log');
});
