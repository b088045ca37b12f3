// The Debian package and what systemd does with it: built, installed, run, and taken away again.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDeb } from '../../scripts/build-deb.js';
import { DaemonUnderTest } from '../helpers/daemon.js';
import { bin, run } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

let folder: string;
let deb: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hawser-deb-test-'));
  deb = await buildDeb(folder);
}, 120_000);
afterAll(() => removeFolder(folder));

test('the package has the program, its units, a configuration that stays, and a manual', async () => {
  const root = join(folder, 'root');
  execFileSync('dpkg-deb', ['-x', deb, root]);
  expect(statSync(join(root, 'usr/bin/rexd')).mode & 0o777).toBe(0o755);
  for (const file of [
    'usr/lib/systemd/system/rexd.service',
    'usr/lib/systemd/system/rexd.socket',
    'etc/rexd/config.toml',
    'usr/share/man/man1/rexd.1.gz',
  ])
    expect(existsSync(join(root, file)), file).toBe(true);
  expect(execFileSync('dpkg-deb', ['-I', deb, 'conffiles'], { encoding: 'utf8' })).toBe(
    '/etc/rexd/config.toml\n',
  );
  const owners = execFileSync('dpkg-deb', ['-c', deb], { encoding: 'utf8' }).trim().split('\n');
  expect(owners.filter((line) => !line.includes(' root/root '))).toEqual([]);
  const program = join(root, 'usr/lib/hawser/rexd.cjs');
  const checked = await run(
    [process.execPath, program, '--check', '--config', join(root, 'etc/rexd/config.toml')],
    {
      cwd: '/',
    },
  );
  expect([checked.code, checked.stderr]).toEqual([0, '']);
});

const whyNotInstalled = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'only root installs packages';
  if (existsSync('/usr/bin/rexd') || existsSync('/etc/rexd')) return 'a rexd is installed already';
  return spawnSync('dpkg', ['--version']).status === 0 ? undefined : 'there is no dpkg';
};

test('it installs, runs, starts nothing unasked, and is purged', async ({ skip }) => {
  const why = whyNotInstalled();
  if (why !== undefined) skip(why);
  try {
    execFileSync('dpkg', ['-i', deb], { stdio: 'pipe' });
    expect((await run(['/usr/bin/rexd', '--version'])).stdout).toMatch(/^rexd \d/);
    await using daemon = await DaemonUnderTest.start({ command: ['/usr/bin/rexd'] });
    expect(await daemon.openSession()).toMatch(/^s_/);
    const verify = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', '/usr/lib/systemd/system/rexd.service', '/usr/lib/systemd/system/rexd.socket'],
      { encoding: 'utf8' },
    );
    // Where there is no systemd to ask, nothing was said.
    const said = (verify.error === undefined ? verify.stderr : '').split('\n');
    expect(said.filter((line) => line.includes('rexd'))).toEqual([]);
    expect(existsSync('/etc/systemd/system/multi-user.target.wants/rexd.service')).toBe(false);
  } finally {
    execFileSync('dpkg', ['--purge', 'hawser-rexd'], { stdio: 'pipe' });
  }
  for (const path of ['/usr/bin/rexd', '/usr/lib/hawser/rexd.cjs', '/etc/rexd', '/var/log/rexd'])
    expect(existsSync(path), path).toBe(false);
});

/** As systemd starts a service: the sockets from descriptor 3 on, and the number of the process they are for. */
const ACTIVATE = ['/bin/sh', '-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&0 0</dev/null', 'sh'] as const;

function fdOf(server: Server): number {
  const { _handle: handle } = server as unknown as { readonly _handle: { readonly fd: number } };
  return handle.fd;
}

async function activate(server: Server, lines: readonly string[] = []): Promise<DaemonUnderTest> {
  const daemon = new DaemonUnderTest({
    command: [...ACTIVATE, process.execPath, bin('rexd')],
    args: [],
    server: lines,
    stdin: fdOf(server),
  });
  await until(() => daemon.stderr.includes('rexd: listening on') || daemon.child.exitCode !== null, 'rexd');
  server.close(); // ours alone: the daemon has its own
  return daemon;
}

test('a port that systemd has opened is served over HTTP, and commands do not inherit it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await until(() => server.listening, 'the socket');
  const { port } = server.address() as AddressInfo;
  await using daemon = await activate(server);
  expect(daemon.url).toBe(`http://127.0.0.1:${port}`);
  const session_id = await daemon.openSession();
  const list = { session_id, shell: true, command: 'ls -l /proc/self/fd; env', stdin: '' };
  const { process_id } = await daemon.ask('exec.start', list);
  await daemon.ask('exec.wait', { session_id, process_id });
  const { data } = await daemon.ask('exec.read', { session_id, process_id });
  expect(data).not.toMatch(/socket:|LISTEN_/);
});

test('a unix socket that systemd has opened carries lines', async () => {
  const path = join(folder, 's');
  const server = createServer().listen(path);
  await until(() => server.listening, 'the socket');
  await using daemon = await activate(server);
  expect(daemon.stderr).toContain('rexd: listening on a unix socket that was passed');
  // Closing ours has removed the name, as systemd never would; the socket itself is still there.
  expect(readFileSync('/proc/net/unix', 'utf8')).toContain(path);
});

test('beside a unix socket that systemd has opened, HTTP is served where the configuration says', async () => {
  const server = createServer().listen(join(folder, 'beside'));
  await until(() => server.listening, 'the socket');
  await using daemon = await activate(server, ['http_listen = "127.0.0.1:0"']);
  await until(() => daemon.stderr.split('listening on').length === 3, 'both of them');
  expect(await daemon.openSession()).toMatch(/^s_/);
});

test('sockets meant for another process are not touched: what was asked for is served', async () => {
  for (const LISTEN_PID of ['1', undefined]) {
    const env = { LISTEN_PID, LISTEN_FDS: '1', XDG_CONFIG_HOME: folder };
    const input = '{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"x"}}\n';
    const { code, stdout } = await run([process.execPath, bin('rexd')], { env, input });
    expect([code, stdout]).toEqual([0, expect.stringContaining('"session_id"')]);
  }
});
