// What detached processes stand on: the shell that stays with them, and the folder they are known by.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openSandbox } from '../../../src/guard/sandbox-probe.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';

const probed = await openSandbox({ network: true, readWrite: [], readOnly: [] });
const MODES = 'problem' in probed ? ['off'] : ['off', 'required'];
if ('problem' in probed) process.stderr.write(`SKIPPED: detach in the sandbox, because ${probed.problem}\n`);

const open = (mode: string): Promise<ExecClient> =>
  ExecClient.open({ config: { tables: ['[security.sandbox]', `mode = "${mode}"`] } });

const stateOf = (client: ExecClient, id: string): string =>
  join(client.rexd.grounds.state, 'rexd', 'detached', id);

const ODD = {
  IFS: 'x',
  PPID: '5',
  OPTIND: '7',
  PS1: 'a',
  PS4: '$(id)',
  _: 'z',
  OLDPWD: '/x',
  LINENO: '3',
  MAIL: 'm',
  hawser_dir: 'mine',
  hawser_n: '9',
  UID: '4',
  SHLVL: '6',
  SHELLOPTS: 'xtrace',
  RANDOM: 'a[$(id)]',
  ENV: '/x',
  QUOTED: `'"$\n\\`,
  TOKEN: 'swordfish',
  EMPTY: '',
  GREP_OPTIONS: '-v',
  POSIXLY_CORRECT: '1',
  LD_HINT: '1',
};

for (const mode of MODES) {
  verifies('rexd/ground/environment', async () => {
    await using client = await open(mode);
    const argv = ['node', '-p', 'JSON.stringify(process.env)'];
    const plain = await client.run({ argv, env: ODD });
    const detached = await client.run({ argv, env: ODD, detach: true });
    expect(detached.stderr.toString()).toBe('');
    const env = JSON.parse(detached.stdout.toString()) as Record<string, string>;
    expect(env).toMatchObject(ODD);
    const { HAWSER_MARK: mark, ...rest } = env;
    const { HAWSER_MARK: other, ...expected } = JSON.parse(plain.stdout.toString()) as Record<string, string>;
    expect(rest).toEqual(expected);
    expect([mark, other]).toEqual([expect.stringMatching(/d_\w+\/p_\w+$/), expect.any(String)]);
  });

  verifies('rexd/ground/supervisor', async () => {
    await using client = await open(mode);
    const id = await client.start({
      argv: ['sh', '-c', 'echo up; read line'],
      env: { ...ODD, HAWSER_MARK: 'mine' },
      stdin_open: true,
      detach: true,
    });
    await client.output(id, 'up');
    const folder = stateOf(client, id);
    const [supervisor = 0] = readFileSync(join(folder, 'pid'), 'latin1').split(' ').map(Number);
    const words = (name: string): string[] =>
      readFileSync(`/proc/${supervisor}/${name}`, 'latin1').split('\0').slice(0, -1);
    expect(words('environ').map((entry) => entry.split('=')[0])).toEqual(
      expect.arrayContaining(['HAWSER_MARK', 'PATH']),
    );
    expect(words('environ')).toHaveLength(2);
    expect(words('cmdline').join('\n')).not.toContain('swordfish');
    expect(words('cmdline')).not.toContain(folder + '/run');
    expect(readdirSync(folder).sort()).toEqual(['entry.json', 'err', 'out', 'pid', 'stderr', 'stdout']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o111, name).toBe(0);
    await client.ask('exec.input', { process_id: id, data: '', eof: true });
    await client.finish(id);
  });
}

verifies('rexd/ground/timeout-unmarked', async () => {
  await using first = await ExecClient.open();
  const command = 'echo $$; sleep 1000 & echo $!; wait';
  const argv = ['env', '-i', 'sh', '-c', command];
  const id = await first.start({ argv, detach: true, timeout_ms: 400 });
  const text = await until(async () => {
    const all = await first.output(id, '');
    return all.split('\n').length === 3 && all;
  }, 'both numbers');
  const pids = text.trim().split('\n').map(Number);
  first.rexd.child.kill('SIGKILL');
  await first.rexd.ended;
  await until(() => !pids.some(isAlive), 'the end of both');
  await using second = await ExecClient.open({ beside: first });
  expect(await second.ask('exec.wait', { process_id: id })).toMatchObject({
    status: 'timed_out',
    timed_out: true,
    signal: 'SIGTERM',
  });
});

verifies('rexd/ground/interpreter', async () => {
  await using client = await ExecClient.open();
  writeFileSync(join(client.root, 'bad'), '#!/nowhere/interpreter\n', { mode: 0o755 });
  for (const detach of [false, true]) {
    const refused = await client.refused('exec.start', { argv: ['./bad'], detach });
    expect(refused?.data, String(detach)).toMatchObject({ reason: 'interpreter_not_found' });
  }
  expect(readdirSync(client.rexd.grounds.base)).not.toContain('state');
});
