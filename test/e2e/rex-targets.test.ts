// rex target, as its users call it, with a stand-in for ssh whose far side has a home of its own.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAX_INSTALL_BYTES } from '../../src/cli/rex/target/install.js';
import { MAX_PRINTED_CHARS, runBySsh } from '../../src/client/rex/run-by-ssh.js';
import { bin } from '../helpers/program.js';
import { type Ran, type RexBySsh, rexBySsh } from '../helpers/rex-by-ssh.js';

/** What goes wrong is told by the environment. */
const SSH = `#!/bin/sh
for last; do :; done
[ -z "$SSH_SAYS" ] || { echo "$SSH_SAYS" >&2; exit 255; }
[ -z "$SSH_NOISE" ] || echo "$SSH_NOISE"
[ -z "$SSH_PATH" ] || export PATH="$SSH_PATH"
export HOME="$FAR_HOME"; unset XDG_CONFIG_HOME XDG_STATE_HOME
cd "$HOME"
[ -z "$SSH_SPOILS" ] || { head -c 1000 | /bin/sh -c "$last"; exit; }
exec /bin/sh -c "$last"
`;

let home: RexBySsh;
let folder = '';
let here = '';
let far = '';

beforeEach(() => {
  home = rexBySsh(SSH);
  ({ folder, here, far } = home);
});

afterEach(() => home[Symbol.dispose]());

const rex = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  home.rex(args, { env: { FAR_HOME: far, SHELL: '/bin/bash', ...env } });

const targetsFile = (): string => join(folder, 'config/rexd/targets.json');
const entries = (): Record<string, Record<string, unknown>> =>
  (JSON.parse(readFileSync(targetsFile(), 'utf8')) as { targets: Record<string, Record<string, unknown>> })
    .targets;

test('targets are added, listed, shown, changed and removed; this machine always stays', async () => {
  const added = await rex([
    'target',
    'add',
    'web',
    'deploy@web.example:2222',
    '--root',
    '/srv/app',
    '--root',
    '/srv/b/',
    '--identity',
    '~/key',
    '--ssh-option',
    '-oProxyJump=gate',
    '--command',
    'rexd --stdio',
    '--description',
    'the web',
    '--cwd',
    '/srv/app/x',
  ]);
  expect(added, added.err).toMatchObject({ code: 0 });
  expect(entries()['web']).toEqual({
    transport: 'ssh',
    host: 'web.example',
    user: 'deploy',
    port: 2222,
    identityFile: join(folder, 'key'),
    sshOptions: ['-oProxyJump=gate'],
    command: 'rexd --stdio',
    workspaceRoots: ['/srv/app', '/srv/b'],
    defaultCwd: '/srv/app/x',
    description: 'the web',
  });
  expect(statSync(targetsFile()).mode & 0o777).toBe(0o600);
  expect(await rex(['target', 'add', 'web', 'x'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('--force') as string,
  });
  await rex(['target', 'add', 'web', 'new.example', '--force']);
  expect(entries()['web']).toMatchObject({
    host: 'new.example',
    user: 'deploy',
    workspaceRoots: ['/srv/app', '/srv/b'],
  });
  const listed = await rex(['target', 'list']);
  expect(listed.out).toMatch(/^\* local +this machine$/m);
  expect(listed.out).toMatch(/^ {2}web +deploy@new\.example:2222 +\/srv\/app \/srv\/b +the web$/m);
  expect(JSON.parse((await rex(['target', 'list', '--json'])).out)).toMatchObject({
    in_use: 'local',
    targets: [{ name: 'local' }, { name: 'web', port: 2222 }],
  });
  expect((await rex(['target', 'show', 'web'])).out).toContain('new.example');
  for (const args of [
    ['add', 'local', 'x'],
    ['remove', 'local'],
    ['add', 'web2', '-oProxyCommand=x'],
    ['add', 'web2', 'h', '--root', 'rel'],
  ])
    expect((await rex(['target', ...args])).code, args.join(' ')).not.toBe(0);
  expect(await rex(['target', 'remove', 'web'])).toMatchObject({ code: 0 });
  expect(await rex(['target', 'remove', 'web'])).toMatchObject({ code: 1 });
});

test('which tells where a command goes and why, in the order of the specification', async () => {
  for (const name of ['used', 'prefixed', 'project', 'named']) await rex(['target', 'add', name, 'h']);
  const which = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await rex(['target', 'which', '--json', ...args])).out);
  expect(await which()).toMatchObject({ target: 'local' });
  await rex(['target', 'use', 'used']);
  expect(await which()).toMatchObject({
    target: 'used',
    why: expect.stringContaining('rex target use') as string,
  });
  await rex(['target', 'use', 'prefixed', '--prefix', '.']);
  expect(await which()).toMatchObject({ target: 'prefixed', why: expect.stringContaining(here) as string });
  await rex(['target', 'use', 'project', '--project']);
  expect(await which()).toMatchObject({
    target: 'project',
    why: expect.stringContaining('.rexd.json') as string,
  });
  expect(await which('-t', 'named')).toMatchObject({ target: 'named', why: 'it was named' });
  expect(await which('/')).toMatchObject({ target: 'used' });
  expect(await rex(['target', 'use', 'nobody'])).toMatchObject({ code: 1 });
  await rex(['target', 'use', '--clear', '--project']);
  await rex(['target', 'use', '--clear', '--prefix', '.']);
  await rex(['target', 'remove', 'used']);
  expect(await which()).toMatchObject({ target: 'local' });
  expect((await rex(['target', 'which'])).out).toBe('local\n');
});

test('rexd is installed, verified, configured and tested; and is gone when it is uninstalled', async () => {
  await rex(['target', 'add', 'far', 'u@far', '--root', `${far}/my work`]);
  mkdirSync(join(far, 'my work'));
  const dry = await rex(['target', 'install', 'far', '--dry-run']);
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('Nothing was done.')]);
  expect(readdirSync(far)).toEqual(['my work']);
  const done = await rex(['target', 'install', 'far', '--to', "~/it's here/rexd"]);
  expect(done, done.err + done.out).toMatchObject({ code: 0 });
  expect(done.err).toContain('verified on the host');
  const path = join(far, "it's here/rexd");
  expect(statSync(path).mode & 0o777).toBe(0o755);
  expect(readdirSync(join(far, "it's here"))).toEqual(['rexd']);
  const config = join(far, '.config/rexd/config.toml');
  expect(readFileSync(config, 'utf8')).toContain(`path = "${far}/my work"`);
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(entries()['far']).toMatchObject({
    installed: { path },
    command: expect.stringContaining('--stdio') as string,
  });
  expect(JSON.parse((await rex(['target', 'test', 'far', '--json'])).out)).toMatchObject({ ok: true });
  await rex(['write', 'far:hello', '--content', 'hi']);
  expect(readFileSync(join(far, 'my work/hello'), 'utf8')).toBe('hi');
  // More than the recommended megabyte: whoever installs a target runs builds there.
  expect((await rex(['exec', 'far', '--', 'head', '-c', '3000000', '/dev/zero'])).out).toHaveLength(
    3_000_000,
  );
  writeFileSync(config, `${readFileSync(config, 'utf8')}# mine\n`);
  expect((await rex(['target', 'install', 'far'])).err).toContain('stays as it is');
  expect(readFileSync(config, 'utf8')).toContain('# mine');
  expect(await rex(['target', 'uninstall', 'far'])).toMatchObject({ code: 0 });
  expect(existsSync(join(far, '.local/bin/rexd'))).toBe(false);
  expect(entries()['far']).not.toHaveProperty('command');
  expect(await rex(['target', 'uninstall', 'far'])).toMatchObject({ code: 1 });
  expect(await rex(['target', 'install', 'local'])).toMatchObject({ code: 2 });
});

test('what arrives spoiled never gets its name, and what is too large never leaves', async () => {
  await rex(['target', 'add', 'far', 'far']);
  const spoiled = await rex(['target', 'install', 'far'], { SSH_SPOILS: '1' });
  expect([spoiled.code, spoiled.err]).toEqual([
    1,
    expect.stringContaining('what arrived is not what was sent'),
  ]);
  expect(readdirSync(join(far, '.local/bin'))).toEqual([]);
  mkdirSync(join(far, '.local/bin/rexd'));
  expect((await rex(['target', 'install', 'far'])).err).toContain('is a folder on the host');
  const huge = join(folder, 'huge');
  writeFileSync(huge, '');
  truncateSync(huge, MAX_INSTALL_BYTES + 1);
  expect((await rex(['target', 'install', 'far', '--file', huge])).err).toContain(
    `${MAX_INSTALL_BYTES} are allowed`,
  );
});

test('a host without Node, or with one that no login finds, is told of or helped', async () => {
  await rex(['target', 'add', 'far', 'far']);
  const bare = join(folder, 'bare');
  mkdirSync(bare);
  for (const name of ['sh', 'cat', 'id', 'uname', 'mkdir', 'rm', 'chmod', 'mv', 'ln', 'sha256sum', 'env']) {
    const found = ['/bin', '/usr/bin'].map((place) => join(place, name)).find((place) => existsSync(place));
    symlinkSync(found ?? `/bin/${name}`, join(bare, name));
  }
  const refused = await rex(['target', 'install', 'far'], { SSH_PATH: bare });
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--binary')]);
  const tested = await rex(['target', 'test', 'far'], { SSH_PATH: bare });
  expect([tested.code, tested.out]).toEqual([1, expect.stringContaining('no Node on the host')]);
  mkdirSync(join(far, '.nvm/versions/node/v20.0.0/bin'), { recursive: true });
  symlinkSync(process.execPath, join(far, '.nvm/versions/node/v20.0.0/bin/node'));
  const done = await rex(['target', 'install', 'far'], { SSH_PATH: bare });
  expect(done, done.err + done.out).toMatchObject({ code: 0 });
  expect(entries()['far']?.['command']).toContain('/.nvm/versions/node/v20.0.0/bin/node ');
});

test.each([
  ['name', 'ssh: Could not resolve hostname far: Name or service not known'],
  ['network', 'ssh: connect to host far port 22: Connection refused'],
  ['host key', 'Host key verification failed.'],
  ['login', 'u@far: Permission denied (publickey).'],
])('a target that fails is told to fail at the %s, with what to do', async (step, said) => {
  await rex(['target', 'add', 'far', 'far']);
  const ran = await rex(['target', 'test', 'far'], { SSH_SAYS: said });
  expect(ran.code).toBe(1);
  expect(ran.out).toMatch(new RegExp(`^✗ ${step}: .*\\n  → `, 'm'));
  expect(ran.out).toContain(said);
});

test('what is tested names no ssh, noise of rc files, a missing rexd and missing roots', async () => {
  await rex([
    'target',
    'add',
    'far',
    'far',
    '--root',
    join(far, 'gone'),
    '--command',
    `${process.execPath} ${bin('rexd')} --stdio --root ${far}`,
  ]);
  const noPath = join(folder, 'nothing');
  mkdirSync(noPath);
  expect((await rex(['target', 'test', 'far'], { PATH: noPath })).out).toContain(
    '✗ ssh: ssh cannot be started',
  );
  const noisy = await rex(['target', 'test', 'far'], { SSH_NOISE: 'Welcome!' });
  expect(noisy.out).toMatch(/^! noise: .*Welcome!.*\n {2}→ .*\.bashrc/m);
  expect([noisy.code, noisy.out]).toEqual([1, expect.stringMatching(/✗ roots: .*gone/)]);
  await rex(['target', 'add', 'far', 'far', '--force', '--command', '/no/such/rexd --stdio']);
  expect((await rex(['target', 'test', 'far'])).out).toContain('rex target install far');
  expect(await rex(['target', 'test', 'local'])).toMatchObject({ code: 0 });
});

test('no more than MAX_PRINTED_CHARS is kept of what a host prints', async () => {
  const before = process.env['PATH'];
  process.env['PATH'] = home.env['PATH'];
  process.env['FAR_HOME'] = far;
  try {
    const target = { transport: 'ssh', host: 'far', workspaceRoots: [] } as const;
    const run = await runBySsh({ ...target, workspaceRoots: [] }, 'head -c 2000000 /dev/zero', [], {
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    });
    expect(run.code).toBe(0);
    expect(run.stdout.length).toBeLessThan(2 * MAX_PRINTED_CHARS);
  } finally {
    process.env['PATH'] = before;
    delete process.env['FAR_HOME'];
  }
});

test('a home in which nothing can be made is told of', async () => {
  const env = { HOME: '/proc/1', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_RUNTIME_DIR: '' };
  const { code, err } = await rex(['target', 'add', 'a', 'b'], env);
  expect(code).toBe(1);
  expect(err).toMatch(/^rex: \/proc\/1\/\.config[^\n]*: no folder can be made there[^\n]*\n$/);
});
