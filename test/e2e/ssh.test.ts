// The client over a real sshd: commands, files and terminals on the other side of the user's own ssh.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openCommandLink } from '../../src/client/rex/command-link.js';
import { connectTarget } from '../../src/client/rex/connect-target.js';
import type { RexClient } from '../../src/client/rex/rex-client.js';
import { sshCommand } from '../../src/client/rex/ssh-command.js';
import type { SshTarget } from '../../src/client/rex/target.js';
import { RpcPeer } from '../../src/wire/jsonrpc/peer.js';
import { descendants, isAlive, killAll, running, type Running } from '../helpers/proc.js';
import { run } from '../helpers/program.js';
import { needsSshd } from '../helpers/needs-sshd.js';
import { type Sshd, startSshd } from '../helpers/sshd.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

const possible = needsSshd();

let sshd: Sshd;
let control: string;
beforeAll(async () => {
  if (!possible) return;
  sshd = await startSshd();
  control = mkdtempSync(join(tmpdir(), 'rex-')); // the name of a socket is short, and so must this be
});
afterAll(async () => {
  if (!possible) return;
  await sshd[Symbol.asyncDispose]();
  await endMasters();
  removeFolder(control);
});

interface Way {
  readonly over?: Partial<SshTarget>;
  readonly share?: boolean;
}

async function connect({ over = {}, share = false }: Way = {}): Promise<RexClient> {
  const choice = { alias: 'box', target: sshd.target(over), why: 'the test says so' };
  const options = { clientName: 'test', localCommand: [], controlFolder: control, shareConnection: share };
  return await connectTarget(choice, options);
}

function logins(): number {
  return sshd.log().split('Accepted publickey').length - 1;
}

/** The processes that keep shared connections. */
function masters(): Running[] {
  return running().filter(({ command }) => command.startsWith('ssh: ') && command.includes(control));
}

/** A shared connection is made to outlive the test. */
async function endMasters(): Promise<void> {
  killAll(masters(), 'SIGTERM');
  await until(() => masters().length === 0, 'the shared connections to end');
}

test('plain ssh works: what follows is about us', async () => {
  const { stdout, stderr, code } = await run([...sshd.ssh, 'echo $HOME']);
  expect({ stdout, stderr, code }).toEqual({ stdout: `${sshd.home}\n`, stderr: '', code: 0 });
});

test('a command runs on the other side, with its output, its errors and its code', async () => {
  await using client = await connect();
  const command = 'cat; echo err >&2; exit 7';
  const { exitCode, stdout, stderr } = await client.run({ shell: true, command, stdin: 'in' });
  expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([7, 'in', 'err\n']);
});

test('four megabytes of any bytes come through as they were', async () => {
  const file = join(sshd.home, 'bytes');
  const bytes = Buffer.from(Array.from({ length: 4 * 1024 * 1024 }, (_, i) => (i * 31 + (i >> 8)) % 256));
  writeFileSync(file, bytes);
  const config = join(sshd.home, 'wide.toml');
  writeFileSync(config, `[limits]\nmax_output_bytes = ${bytes.length}\n`);
  await using client = await connect({ over: { command: `${sshd.rexd} --config ${config}` } });
  const { stdout } = await client.run({ argv: ['cat', file] });
  expect(stdout.equals(bytes)).toBe(true);
});

test('files are written, read, listed and searched there', async () => {
  await using client = await connect();
  const path = join(sshd.home, 'notes', 'a.txt');
  await client.request('fs.mkdir', { path: join(sshd.home, 'notes'), parents: true });
  await client.request('fs.write', { path, content: 'grüße\n', mode: 'create' });
  expect(readFileSync(path, 'utf8')).toBe('grüße\n');
  expect((await client.request('fs.read', { path, encoding: 'utf8' })).content).toBe('grüße\n');
  const { matches } = await client.request('fs.glob', { pattern: '**/*.txt', cwd: sshd.home });
  expect(matches).toEqual([path]);
});

test('a terminal is resized, echoes and ends', async () => {
  const link = await openCommandLink(sshCommand(sshd.target(), { controlFolder: false }));
  const events: { method: string; params: { data?: string; exit_code?: number } }[] = [];
  await using peer = new RpcPeer(link, { onNotification: (event) => void events.push(event as never) });
  const { session_id } = (await peer.request('session.open', { client_name: 'test' })) as {
    session_id: string;
  };
  const opened = await peer.request('pty.open', { session_id, argv: ['/bin/sh'], cols: 80, rows: 24 });
  const { pty_id } = opened as { pty_id: string };
  await peer.request('pty.resize', { session_id, pty_id, cols: 132, rows: 50 });
  await peer.request('pty.input', { session_id, pty_id, data: 'stty size; exit 4\n' });
  const exit = await until(() => events.find(({ method }) => method === 'pty.exit'), 'the terminal to end');
  const output = events.map(({ params }) => params.data ?? '').join('');
  expect(output).toMatch(/stty size; exit 4[\s\S]*50 132/);
  expect(exit.params.exit_code).toBe(4);
});

test('a command of one host leads to another through a jump host and an included configuration', async () => {
  const included = join(sshd.folder, 'hosts.conf');
  const config = join(sshd.folder, 'jump_config');
  writeFileSync(included, 'Host inner\n  HostName 127.0.0.1\n  ProxyJump box\n');
  const all = readFileSync(sshd.config, 'utf8').replace('Host box', 'Host box inner');
  writeFileSync(config, `Include ${included}\n${all}`);
  const before = logins();
  await using client = await connect({ over: { host: 'inner', sshOptions: ['-F', config] } });
  const { stdout } = await client.run({ argv: ['echo', 'through'] });
  expect(stdout.toString()).toBe('through\n');
  expect(logins() - before).toBe(2); // the one at the gate, and the one through it
});

test('a configuration made for people at a terminal does not get in the way', async () => {
  const config = join(sshd.folder, 'people_config');
  const lines = ['RequestTTY force', 'RemoteCommand tmux attach', 'LocalForward 127.0.0.1:1 127.0.0.1:1'];
  const all = readFileSync(sshd.config, 'utf8').replace(
    'Host box',
    `Host box\n${lines.join('\n')}\nExitOnForwardFailure yes\nLogLevel QUIET`,
  );
  writeFileSync(config, all);
  await using client = await connect({ over: { sshOptions: ['-F', config] } });
  expect((await client.run({ argv: ['echo', 'ok'] })).stdout.toString()).toBe('ok\n');
});

test('connections share one login, which stays for the next and is not ours to wait for', async () => {
  const before = logins();
  for (const word of ['one', 'two', 'three']) {
    await using client = await connect({ share: true });
    expect((await client.run({ argv: ['echo', word] })).stdout.toString()).toBe(`${word}\n`);
  }
  expect(logins() - before).toBe(1);
  expect(masters()).toHaveLength(1);
  await endMasters();
});

test('a shared connection whose keeper was killed is made anew, over the socket it left behind', async () => {
  await using first = await connect({ share: true });
  const master = await until(() => masters()[0], 'the one that keeps it');
  process.kill(master.pid, 'SIGKILL');
  await until(() => first.closing, 'the client to hear of it');
  await using client = await connect({ share: true });
  expect((await client.run({ argv: ['echo', 'again'] })).stdout.toString()).toBe('again\n');
  await client.close();
  await endMasters();
});

test('more sessions than sshd gives to one login still come through', async () => {
  await using narrow = await startSshd({ server: ['MaxSessions 2'] });
  const choice = { alias: 'box', target: narrow.target(), why: '' };
  const options = { clientName: 'test', localCommand: [], controlFolder: control };
  const clients: RexClient[] = [];
  try {
    for (let i = 0; i < 4; i++) clients.push(await connectTarget(choice, options));
    const outs = await Promise.all(clients.map((client) => client.run({ argv: ['echo', 'x'] })));
    expect(outs.map(({ stdout }) => stdout.toString())).toEqual(['x\n', 'x\n', 'x\n', 'x\n']);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
});

test('noise of a login, as much as is tolerated, is passed over', async () => {
  await using loud = await startSshd({
    server: [`Banner /etc/debian_version`],
    bashrc: 'head -c 60000 /dev/zero | tr "\\0" x; echo; echo greetings; printf "no newline "',
  });
  const choice = { alias: 'box', target: loud.target(), why: '' };
  await using client = await connectTarget(choice, {
    clientName: 'test',
    localCommand: [],
    shareConnection: false,
  });
  expect((await client.run({ argv: ['echo', 'ok'] })).stdout.toString()).toBe('ok\n');
});

test('a login shell with a profile that prints and sets things up can start rexd', async () => {
  await using other = await startSshd();
  writeFileSync(join(other.home, '.bash_profile'), 'echo profile; export FROM_PROFILE=yes; cd /\n');
  const target = other.target({ command: `bash -lc "exec ${other.rexd}"` });
  const options = { clientName: 'test', localCommand: [], shareConnection: false };
  await using client = await connectTarget({ alias: 'box', target, why: '' }, options);
  const { stdout } = await client.run({ shell: true, command: 'pwd; echo $HOME' });
  expect(stdout.toString()).toBe(`${other.home}\n${other.home}\n`);
});

test('what is asked for is compressed on the way, and told', async () => {
  await using client = await connect({ over: { compression: 'on' } });
  const { stdout } = await client.run({ shell: true, command: 'seq 100000' });
  expect(stdout.length).toBe(588_895);
  const { compression } = await client.request('session.info', {});
  expect(compression).toMatchObject({ algorithm: 'deflate', adaptive: false });
  expect(compression?.bytes_sent).toBeLessThan(588_895 / 2);
  await using plain = await connect({ over: { compression: 'off' } });
  expect(plain.session.compression).toBeUndefined();
});

test('the end of the client ends what it started over there, and its connection', async () => {
  const client = await connect();
  const sleeper = await client.start({ argv: ['sleep', '1000'], stdin: '' });
  expect(isAlive(sleeper.pid ?? 0)).toBe(true);
  await client.close();
  await until(() => !isAlive(sleeper.pid ?? 0), 'the command to end');
  await until(() => descendants(sshd.pid).length === 0 || masters().length > 0, 'the connection to end');
});

test.each(['the ssh of this side', 'the sshd of the connection'])(
  'kill -9 of %s leaves no command',
  async (victim) => {
    await until(() => sshd.connections().length === 0, 'earlier connections to end');
    await using client = await connect();
    const pidFile = join(sshd.home, 'pids');
    rmSync(pidFile, { force: true });
    const command = `sleep 1000 & echo $! > ${pidFile}; wait`;
    await client.start({ shell: true, command, stdin: '' });
    const pid = await until(
      () => existsSync(pidFile) && (Number(readFileSync(pidFile, 'utf8')) || undefined),
      'the command to run',
    );
    const killed = await until(
      () =>
        victim.startsWith('the ssh ')
          ? descendants(process.pid).find((each) => each.command.startsWith('ssh -F'))
          : sshd.connections().at(-1),
      victim,
    );
    process.kill(killed.pid, 'SIGKILL');
    await until(() => !isAlive(pid), 'the command to end');
    expect(isAlive(pid)).toBe(false);
  },
);
