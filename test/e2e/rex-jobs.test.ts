// What rex leaves running on a target: found, followed and ended by later calls; and the log of what was asked.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from '../helpers/proc.js';
import { bin } from '../helpers/program.js';
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
  const isKilled = ({ process_id, status }: Listed): boolean => process_id === id && status === 'killed';
  await until(async () => (await list()).some(isKilled), 'its end to be listed');
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
  for (const verb of ['logs', 'attach', 'kill'])
    expect(await home.rex([verb, 'p_nothing'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^rex: there is no process p_nothing on this target\nSee: rex ps/),
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
  await home.rex(['exec', 'local', '--', 'cat'], audited); // it ends with its input: that comes too late for nobody
  await home.rex(['exec', 'local', '--cwd', '/', '--', 'true'], audited);
  const lines = async (...options: string[]): Promise<{ method: string }[]> =>
    (await home.rex(['audit', '--json', ...options], audited)).stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { method: string });
  // The servers of these calls may be writing their last lines still.
  await until(async () => (await lines()).length > 4, 'the lines of both calls');
  const failed = await until(async () => {
    const found = await lines('--failed');
    return found.length > 0 && found;
  }, 'the line of the refusal');
  expect(failed.map(({ method }) => method)).toEqual(['exec.start']);
  expect((await lines('--method', 'exec.*')).every(({ method }) => method.startsWith('exec.'))).toBe(true);
  expect(await lines('--since', '2999-01-01')).toEqual([]);
  await using follower = home.start(['audit', '--follow', '--method', 'exec.exit'], audited);
  expect(await follower.line()).toContain('exec.exit');
  await home.rex(['exec', 'local', '--', 'false'], audited);
  expect(await follower.line()).toContain('exit 1');
  expect((await home.rex(['audit'])).stderr).toContain('keeps no audit log');
});

test('the audit log of a target is read through the target', async () => {
  const far = join(home.folder, 'far');
  mkdirSync(join(home.folder, 'bin'), { recursive: true });
  mkdirSync(far);
  const config = join(far, 'rexd.toml');
  writeFileSync(
    config,
    `[audit]\nenabled = true\npath = "${far}/audit.log"\n[[security.allowed_roots]]\npath = "${far}"\n`,
  );
  // Stands for ssh: the last word is for the shell of the other side.
  const ssh = join(home.folder, 'bin/ssh');
  writeFileSync(ssh, '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n', { mode: 0o755 });
  const command = `'${process.execPath}' '${bin('rexd')}' --stdio --config ${config}`;
  const targets = join(home.folder, 'audited.json');
  const target = { transport: 'ssh', host: 'far', workspaceRoots: [far], defaultCwd: far, command };
  writeFileSync(targets, JSON.stringify({ version: 1, targets: { far: target } }));
  const env = { REXD_TARGETS_FILE: targets, PATH: `${join(home.folder, 'bin')}:${process.env['PATH']}` };
  expect((await home.rex(['exec', 'far', '--', 'true'], { env })).stderr).toBe('');
  const audit = () => home.rex(['audit', 'far', '--json', '--method', 'exec.start'], { env });
  const { stdout, stderr } = await until(async () => {
    const told = await audit();
    return told.stdout !== '' && told;
  }, 'its line');
  const [first] = stdout.split('\n').map((line) => (line === '' ? undefined : (JSON.parse(line) as object)));
  expect([first, stderr]).toEqual([expect.objectContaining({ method: 'exec.start' }), '']);
});
