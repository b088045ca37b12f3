// What is in the way of a target, in plain words, as real ssh and sshd put it.

import { appendFileSync, chmodSync, copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTarget } from '../../src/client/rex/connect-target.js';
import { ConnectError, type FailureReason } from '../../src/client/rex/explain-failure.js';
import type { SshTarget } from '../../src/client/rex/target.js';
import { needsSshd } from '../helpers/needs-sshd.js';
import { makeKey, type Sshd, startSshd } from '../helpers/sshd.js';
import { removeFolder } from '../helpers/remove-folder.js';

const possible = needsSshd();

let sshd: Sshd;
let scratch: string;
beforeAll(async () => {
  if (!possible) return;
  sshd = await startSshd();
  scratch = mkdtempSync(join(tmpdir(), 'hawser-ssh-'));
});
afterAll(async () => {
  if (!possible) return;
  await sshd[Symbol.asyncDispose]();
  removeFolder(scratch);
});

async function failure(over: Partial<SshTarget>, at: Sshd = sshd): Promise<[FailureReason, string]> {
  const choice = { alias: 'box', target: at.target(over), why: '' };
  const options = { clientName: 'test', localCommand: [], shareConnection: false };
  const client = await connectTarget(choice, options).catch((thrown: unknown) => thrown);
  if (!(client instanceof ConnectError)) throw new Error(`connected, or failed otherwise: ${String(client)}`);
  return [client.reason, client.message];
}

let count = 0;
/** The configuration of the client, with other lines before it. */
function config(...lines: string[]): string[] {
  const file = join(scratch, `config-${(count += 1)}`);
  const key = lines.some((line) => line.startsWith('IdentityFile')) ? /^ *IdentityFile.*$/m : /^$/;
  const others = readFileSync(sshd.config, 'utf8').replace(key, '');
  writeFileSync(file, others.replace('Host box', `Host box\n${lines.join('\n')}`));
  return ['-F', file];
}

test('a host whose key is not known', async () => {
  const [reason, message] = await failure({ sshOptions: config('UserKnownHostsFile /dev/null') });
  expect(reason).toBe('host_key');
  expect(message).toContain('ssh does not know the key of the host; connect once with "ssh"');
});

test('a host whose key has changed', async () => {
  const other = join(scratch, 'other');
  makeKey(other, 'other');
  const known = join(scratch, 'known');
  const [type = '', key = ''] = readFileSync(`${other}.pub`, 'utf8').split(' ');
  writeFileSync(known, `[127.0.0.1]:${sshd.port} ${type} ${key}\n`);
  const [reason, message] = await failure({ sshOptions: config(`UserKnownHostsFile ${known}`) });
  expect(reason).toBe('host_key');
  expect(message).toContain('another key than it used to');
});

test('a key that the host does not take, and no question is asked', async () => {
  const stranger = join(scratch, 'stranger');
  makeKey(stranger, 'stranger');
  const [reason, message] = await failure({ sshOptions: config(`IdentityFile ${stranger}`), user: 'root' });
  expect(reason).toBe('not_authorised');
  expect(message).toMatch(/could not log in without asking.*Permission denied \(publickey\)/);
});

test('a key file that is not there, or that others may read', async () => {
  const missing = join(scratch, 'no-such-key');
  const line = `IdentityFile ${missing}`;
  expect((await failure({ identityFile: missing, sshOptions: config(line) }))[1]).toContain('no-such-key');
  const open = join(scratch, 'open');
  copyFileSync(sshd.userKey, open);
  chmodSync(open, 0o644);
  const [reason, message] = await failure({ sshOptions: config(`IdentityFile ${open}`) });
  expect([reason, message]).toEqual(['not_authorised', expect.stringContaining('ssh cannot use the key')]);
});

test('a port where nobody listens', async () => {
  const [reason, message] = await failure({ port: 1 }); // of a service that nobody has, and never given to anybody
  expect(reason).toBe('unreachable');
  expect(message).toMatch(/cannot be reached; check its name.*Connection refused/);
});

test('a port where something else than sshd listens', async () => {
  const server = createServer((socket) =>
    socket.on('error', () => {}).end('220 mail\r\n'.repeat(2000)),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const [reason, message] = await failure({ port: (server.address() as AddressInfo).port });
  server.close();
  await once(server, 'close');
  expect([reason, message]).toEqual(['unreachable', expect.any(String)]);
});

test('a name that nobody knows', async () => {
  const [reason, message] = await failure({ sshOptions: config('HostName no-such-host.invalid') });
  expect(reason).toBe('unreachable');
  expect(message).toContain('no-such-host.invalid');
});

test('a gate that leads nowhere', async () => {
  const [reason] = await failure({ sshOptions: config('ProxyJump root@127.0.0.1:1') });
  expect(reason).toBe('unreachable');
});

test('a configuration that ssh does not take', async () => {
  const [reason, message] = await failure({ sshOptions: config('NoSuchOption yes') });
  expect(reason).toBe('ssh_config');
  expect(message.toLowerCase()).toContain('nosuchoption');
});

test('no rexd on the host', async () => {
  for (const command of ['/usr/local/bin/no-rexd --stdio', 'no-rexd --stdio']) {
    const [reason, message] = await failure({ command });
    expect(reason).toBe('no_rexd');
    expect(message).toContain('install it with "rex target install"');
  }
});

test('a rexd that cannot be run is not taken for a refused login', async () => {
  const file = join(sshd.home, 'rexd-not-executable');
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
  const [reason, message] = await failure({ command: file });
  expect([reason, message]).toEqual(['no_rexd', expect.stringContaining('rexd is there but cannot be run')]);
});

test('no Node on the host, or one that is too old', async () => {
  expect((await failure({ command: 'PATH=/nowhere /usr/bin/env node rexd' }))[0]).toBe('no_node');
  const old = 'echo "SyntaxError: Unexpected token" >&2; echo "Node.js v16.20.2" >&2; exit 1';
  expect((await failure({ command: old }))[1]).toContain('too old');
});

test('a banner and words of a login are not mistaken for the reason', async () => {
  const banner = join(scratch, 'banner');
  writeFileSync(banner, 'Permission denied (to strangers). Connection refused is the rule here.\n');
  await using other = await startSshd({ server: [`Banner ${banner}`], bashrc: 'echo Connection refused' });
  const [reason, message] = await failure({ command: 'no-rexd' }, other);
  expect([reason, message]).toEqual(['no_rexd', expect.stringContaining('no-rexd: command not found')]);
});

test('more noise than is tolerated', async () => {
  await using other = await startSshd({ bashrc: 'echo Welcome; head -c 70000 /dev/zero | tr "\\0" x; echo' });
  const [reason, message] = await failure({}, other);
  expect(reason).toBe('noise');
  expect(message).toMatch(/more than 64 KiB were printed.*rc files silent.*"Welcome/);
});

test('something else than rexd answers', async () => {
  const [reason, message] = await failure({ command: 'echo hello; echo world' });
  expect([reason, message]).toEqual(['noise', expect.stringContaining('it begins: "hello\\nworld"')]);
});

test('a login whose shell ends before anything runs', async () => {
  await using other = await startSshd({ bashrc: 'exec tmux-or-such attach' });
  const [reason, message] = await failure({}, other);
  expect([reason, message]).toEqual(['no_rexd', expect.stringContaining('tmux-or-such')]);
});

test('a root that rexd does not give', async () => {
  const [reason, message] = await failure({ workspaceRoots: ['/etc'] });
  expect([reason, message]).toEqual(['roots', expect.stringContaining('/etc')]);
});

test('a configuration of rexd that is wrong', async () => {
  appendFileSync(join(sshd.home, 'bad.toml'), 'nonsense = 1\n');
  const [reason, message] = await failure({ command: `${sshd.rexd} --config ${sshd.home}/bad.toml` });
  expect([reason, message]).toEqual(['failed', expect.stringContaining('nonsense')]);
});

test('an ssh that is not there', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    const [reason, message] = await failure({});
    expect([reason, message]).toEqual(['no_ssh', expect.stringContaining('there is no such program')]);
  } finally {
    process.env['PATH'] = path;
  }
});
