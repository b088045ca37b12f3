// REXD v1: the security model. Which commands run, which limits hold, who may name what.

import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bin, Program } from '../../helpers/program.js';
import { ExecClient } from '../kit/exec-client.js';
import { Terminal } from '../kit/pty-client.js';
import { startRexd } from '../kit/rexd-under-test.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

const serve = (...security: string[]): Promise<ExecClient> => ExecClient.open({ config: { security } });

/** Refused with a terminal and without, with this in its data, and nothing was started. */
async function expectRefused(
  client: ExecClient,
  command: Record<string, unknown>,
  data: Record<string, unknown>,
) {
  for (const method of ['exec.start', 'pty.open']) {
    const error = await client.refused(method, command);
    expect(error, `${method} ${JSON.stringify(command)}`).toMatchObject({
      code: -32001,
      data: { reason: expect.stringMatching(/./), class: expect.any(String), ...data },
    });
  }
  expect(await client.ask('session.info')).toMatchObject({ running_processes: 0 });
}

verifies('rexd/policy/allow', async () => {
  await using client = await serve('allow_commands = ["echo", "git status"]');
  expect((await client.run({ argv: ['echo', 'hi'] })).stdout.toString()).toBe('hi\n');
  for (const command of [
    { argv: ['ls'] },
    { argv: ['git', 'push'] },
    { argv: ['./echo'] },
    { argv: ['env', 'ls'] },
    { shell: true, command: 'ls' },
    { shell: true, command: 'echo hi; ls' },
    { shell: true, command: 'echo $(ls)' },
  ])
    await expectRefused(client, command, { rule: 'allow' });
});

verifies('rexd/policy/deny', async () => {
  await using client = await serve('deny_commands = ["rm -rf **"]');
  writeFileSync(join(client.root, 'kept'), '');
  for (const command of [
    { argv: ['rm', '-rf', 'kept'] },
    { argv: ['/bin/rm', '-rf', 'kept'] },
    { argv: ['env', 'A=1', 'rm', '-rf', 'kept'] },
    { argv: ['timeout', '5', 'nice', 'rm', '-rf', 'kept'] },
    { argv: ['sh', '-c', 'rm -rf kept'] },
    { shell: true, command: 'cd . && rm -rf kept' },
    { shell: true, command: 'echo $(rm -rf kept)' },
  ])
    await expectRefused(client, command, { rule: 'deny "rm -rf **"' });
  expect(readdirSync(client.root)).toContain('kept');
  expect((await client.run({ argv: ['rm', 'kept'] })).exit).toMatchObject({ exit_code: 0 });
});

verifies('rexd/policy/classes', async () => {
  const one: [string, readonly string[], string][] = [
    ['read-only', ['cat', '/dev/null'], 'write'],
    ['write', ['touch', 'x'], 'shell'],
    ['shell', ['sh', '-c', 'true'], 'privileged'],
  ];
  const of: Readonly<Record<string, readonly string[]>> = {
    write: ['touch', 'x'],
    privileged: ['sudo', 'true'],
    shell: ['sh', '-c', 'true'],
  };
  for (const [name, argv, other] of one) {
    await using client = await serve(`classes = ["${name}"]`);
    expect((await client.run({ argv })).exit, name).toMatchObject({ exit_code: 0 });
    await expectRefused(client, { argv: of[other] }, { rule: 'classes', class: other });
  }
});

verifies('rexd/policy/sudo', async () => {
  await using client = await serve('sudo = ["id", "systemctl restart app"]');
  for (const argv of [
    ['sudo', 'reboot'],
    ['sudo', '-u', 'root', 'systemctl', 'restart', 'other'],
    ['env', 'sudo', 'sh'],
    ['doas', 'reboot'],
  ])
    await expectRefused(client, { argv }, { rule: 'sudo', class: 'privileged' });
  // Allowed is not the same as there: without a sudo on the machine it is the start that fails.
  const answer = await client.call('exec.start', { argv: ['sudo', '-n', 'id'], stdin: '' });
  expect(answer.error?.code).not.toBe(-32001);
});

verifies('rexd/policy/user', async () => {
  await using client = await ExecClient.open();
  expect((await client.run({ argv: ['id', '-u'] })).stdout.toString()).toBe(
    execFileSync('id', ['-u']).toString(),
  );
});

verifies('rexd/limits/lowered', async () => {
  await using client = await ExecClient.open({ limits: { max_concurrent_sessions: 8 } });
  const open = async (limits: Record<string, number>): Promise<string> =>
    String((await client.ask('session.open', { limits }))['session_id']);

  const output = await open({ max_output_bytes: 10 });
  const run = await client.sh('printf 0123456789abc', { session_id: output, max_output_bytes: 1000 });
  expect(run.stdout.toString()).toBe('0123456789');
  expect(run.exit).toMatchObject({ output_limit_exceeded: true });

  writeFileSync(join(client.root, 'f'), '0123456789');
  const read = await open({ max_file_read_bytes: 4 });
  expect(await client.ask('fs.read', { session_id: read, path: 'f', length: 9 })).toMatchObject({
    content: '0123',
    truncated: true,
  });

  const processes = await open({ max_processes_per_session: 1 });
  const running = await client.start({ session_id: processes, argv: ['sleep', '60'] });
  expect(await client.refused('exec.start', { session_id: processes, argv: ['true'] })).toMatchObject({
    code: -32008,
    data: { limit: 'max_processes_per_session', value: 1 },
  });
  await client.ask('exec.kill', { session_id: processes, process_id: running });

  const quick = await open({ default_timeout_ms: 200 });
  expect((await client.run({ session_id: quick, argv: ['sleep', '60'] })).exit).toMatchObject({
    timed_out: true,
  });
  const hard = await open({ hard_timeout_ms: 200 });
  expect(
    (await client.run({ session_id: hard, argv: ['sleep', '60'], timeout_ms: 60_000 })).exit,
  ).toMatchObject({ timed_out: true });
});

verifies('rexd/limits/lowered', async () => {
  await using client = await ExecClient.open({ limits: { max_concurrent_sessions: 8 } });
  const tooMany = { code: -32008, data: { limit: 'max_concurrent_sessions', value: 2 } };
  const second = await client.ask('session.open', { limits: { max_concurrent_sessions: 2 } });
  expect(second['limits']).toMatchObject({ max_concurrent_sessions: 2 });
  expect(await client.refused('session.open', {}), 'two are open on this connection').toMatchObject(tooMany);
  await client.ask('session.close', { session_id: second['session_id'] });
  await client.ask('session.open', {});
  expect(
    await client.refused('session.open', { limits: { max_concurrent_sessions: 2 } }),
    'it would be the third',
  ).toMatchObject(tooMany);
  await client.ask('session.open', {});
});

verifies('rexd/limits/lowered', async () => {
  await using rexd = startRexd({
    max_output_bytes: 4096,
    hard_timeout_ms: 60_000,
    max_processes_per_session: 3,
  });
  const { limits } = await rexd.ask('session.open', {
    limits: {
      max_output_bytes: 1e9,
      hard_timeout_ms: 1e9,
      max_processes_per_session: 100,
      default_timeout_ms: 1e9,
      max_file_read_bytes: 1e9,
      max_concurrent_sessions: 1e6,
    },
  });
  expect(limits, 'asking for more gets what there is').toMatchObject({
    max_output_bytes: 4096,
    hard_timeout_ms: 60_000,
    max_processes_per_session: 3,
    default_timeout_ms: 30_000,
    max_file_read_bytes: 1_048_576,
    max_concurrent_sessions: 16,
  });
  for (const wrong of [0, -1, 1.5, '5', null])
    expect(
      (await rexd.call('session.open', { limits: { max_output_bytes: wrong } })).error,
      String(wrong),
    ).toMatchObject({
      code: -32602,
      message: expect.stringContaining('limits.max_output_bytes'),
    });
});

verifies('rexd/roots/none', async (_transport, skip) => {
  skipForeign(skip);
  await using program = new Program([process.execPath, bin('rexd'), '--stdio'], {
    env: { XDG_CONFIG_HOME: '/nonexistent', HOME: '/nonexistent' },
  });
  let id = 0;
  const call = async (method: string, params: object): Promise<Record<string, Record<string, unknown>>> => {
    program.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
    return JSON.parse((await program.line()) ?? 'null') as Record<string, Record<string, unknown>>;
  };
  const session_id = (await call('session.open', {}))['result']?.['session_id'];
  expect((await call('session.info', { session_id }))['result']).toMatchObject({
    cwd: null,
    workspace_roots: [],
  });
  const calls: [string, Record<string, unknown>][] = [
    ['fs.read', { path: '/etc/hostname' }],
    ['fs.stat', { path: '/' }],
    ['fs.list', { path: '/' }],
    ['fs.write', { path: '/tmp/x', content: '' }],
    ['exec.start', { argv: ['true'] }],
    ['exec.start', { argv: ['true'], cwd: '/' }],
    ['pty.open', { argv: ['true'] }],
  ];
  for (const [method, params] of calls)
    expect((await call(method, { session_id, ...params }))['error'], method).toMatchObject({
      code: -32002,
      data: { allowed_roots: [] },
    });
  expect((await call('session.open', { workspace_roots: ['/'] }))['error']).toMatchObject({
    code: -32002,
    data: { path: '/' },
  });
});

verifies('rexd/roots/session', async () => {
  await using client = await ExecClient.open();
  const { root, otherRoot } = client.rexd.grounds;
  writeFileSync(join(otherRoot, 'theirs'), 'x');
  const narrow = (await client.ask('session.open', { workspace_roots: [join(root, 'sub')] }))['session_id'];
  const expected = { code: -32002, data: { allowed_roots: [join(root, 'sub')] } };
  const calls: [string, Record<string, unknown>][] = [
    ['fs.read', { path: join(otherRoot, 'theirs') }],
    ['fs.write', { path: join(root, 'x'), content: '' }],
    ['fs.list', { path: root }],
    ['fs.stat', { path: '..' }],
    ['fs.glob', { pattern: '*', cwd: otherRoot }],
    ['exec.start', { argv: ['true'], cwd: root }],
    ['pty.open', { argv: ['true'], cwd: otherRoot }],
  ];
  for (const [method, params] of calls)
    expect(await client.refused(method, { session_id: narrow, ...params }), method).toMatchObject(expected);
  expect(
    await client.ask('fs.read', { path: join(otherRoot, 'theirs') }),
    'another session may',
  ).toMatchObject({ content: 'x' });
});

verifies('rexd/roots/slash', async () => {
  await using client = await ExecClient.open({
    config: { tables: ['[[security.allowed_roots]]', 'path = "/"'] },
  });
  const { outside } = client.rexd.grounds;
  const session_id = (await client.ask('session.open', { workspace_roots: ['/'] }))['session_id'];
  expect(await client.ask('session.info', { session_id })).toMatchObject({
    cwd: '/',
    workspace_roots: ['/'],
  });
  await client.ask('fs.write', { session_id, path: join(outside, 'f'), content: 'x' });
  expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('x');
  expect(await client.ask('fs.read', { session_id, path: `.${outside}/f` })).toMatchObject({ content: 'x' });
  expect(await client.ask('fs.list', { session_id, path: outside })).toMatchObject({
    entries: [{ name: 'f', path: join(outside, 'f') }],
  });
  expect((await client.sh('pwd', { session_id })).stdout.toString()).toBe('/\n');
  expect((await client.sh('pwd', { session_id, cwd: outside })).stdout.toString()).toBe(`${outside}\n`);
  expect(await client.refused('fs.remove', { session_id, path: '/', recursive: true })).toMatchObject({
    code: -32002,
    data: { reason: 'root' },
  });
});

verifies('rexd/roots/hard-links', async () => {
  await using client = await ExecClient.open({ config: { security: ['hard_links = "refuse"'] } });
  const { outside, root } = client.rexd.grounds;
  writeFileSync(join(outside, 'first'), 'first');
  linkSync(join(outside, 'first'), join(root, 'second'));
  writeFileSync(join(root, 'own'), 'own');
  const expected = {
    code: -32002,
    message: expect.stringContaining('several names'),
    data: { reason: 'hard_link' },
  };
  const path = 'second';
  for (const [method, params] of [
    ['fs.read', { path }],
    ['fs.write', { path, content: 'x', atomic: false }],
    ['fs.write', { path, content: 'x', mode: 'append', atomic: false }],
    ['fs.edit', { path, old_string: 'first', new_string: 'x' }],
    ['fs.copy', { from: path, to: 'third' }],
  ] as const)
    expect(await client.refused(method, params), method).toMatchObject(expected);
  expect((await client.ask('fs.search', { query: 'first' }))['matches']).toEqual([]);
  expect(readFileSync(join(outside, 'first'), 'utf8')).toBe('first');
  expect(await client.ask('fs.read', { path: 'own' })).toMatchObject({ content: 'own' });
});

verifies('rexd/roots/session', async () => {
  // Asking for "/" gives the allowed roots, never the whole file system.
  await using rexd = startRexd();
  const { root, otherRoot } = rexd.grounds;
  expect((await rexd.ask('session.open', { workspace_roots: ['/'] }))['workspace_roots']).toEqual([
    root,
    otherRoot,
  ]);
});

verifies('rexd/session/unguessable', async () => {
  await using client = await ExecClient.open({
    limits: { max_concurrent_sessions: 64, max_processes_per_session: 64 },
  });
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) {
    ids.push(await client.openSession());
    ids.push(await client.start({ argv: ['true'], stdin: '' }));
  }
  expect(new Set(ids).size).toBe(ids.length);
  // Seventy bits at least differ from one to the next by chance: the last 16 characters of five bits each.
  for (const kind of ['s_', 'p_']) {
    const tails = ids.filter((id) => id.startsWith(kind)).map((id) => id.slice(-16));
    for (const [i, tail] of tails.entries()) {
      const next = tails[i + 1] ?? '';
      const same = tail.split('').filter((char, at) => char === next[at]).length;
      expect(same, `${tail} ${next}`).toBeLessThan(10);
    }
  }
});

verifies('rexd/session/isolation', async () => {
  await using client = await ExecClient.open();
  const other = await client.openSession();
  const process_id = await client.start({ argv: ['cat'] });
  const terminal = await Terminal.open(client, { argv: ['cat'] });
  const pty = { pty_id: terminal.ptyId };
  const calls: [string, Record<string, unknown>][] = [
    ['exec.wait', { process_id, timeout_ms: 1 }],
    ['exec.kill', { process_id }],
    ['exec.input', { process_id, data: 'x' }],
    ['exec.read', { process_id, stream: 'stdout' }],
    ['exec.kill', { process_id: terminal.processId }],
    ['pty.input', { ...pty, data: 'x' }],
    ['pty.resize', { ...pty, cols: 10, rows: 10 }],
    ['pty.close', pty],
  ];
  for (const [method, params] of calls)
    expect(await client.refused(method, { session_id: other, ...params }), method).toMatchObject({
      code: -32005,
    });
  expect(await client.ask('exec.list', { session_id: other })).toMatchObject({ processes: [] });
  expect(await client.ask('exec.wait', { process_id, timeout_ms: 1 })).toMatchObject({ status: 'running' });

  await using stranger = await ExecClient.open();
  expect(await stranger.refused('session.info', { session_id: client.sessionId })).toMatchObject({
    code: -32602,
    data: { session_id: client.sessionId },
  });
  await terminal.close();
});

verifies('rexd/session.open/requested-capabilities', async () => {
  await using rexd = startRexd();
  expect(await rexd.ask('session.open', { requested_capabilities: ['exec', 'fs', 'events'] })).toMatchObject({
    capabilities: expect.arrayContaining(['exec', 'fs', 'events']),
  });
  expect(await rexd.ask('session.open', { requested_capabilities: [] })).toMatchObject({
    protocol: 'rexd/1',
  });
  expect(
    (await rexd.call('session.open', { requested_capabilities: ['exec', 'time-travel'] })).error,
  ).toMatchObject({
    code: -32007,
    data: { capability: 'time-travel' },
  });
});

verifies('rexd/defaults', async () => {
  await using rexd = startRexd();
  const opened = await rexd.ask('session.open', { client_name: 't' });
  expect(opened['limits']).toMatchObject({
    default_timeout_ms: 30_000,
    hard_timeout_ms: 300_000,
    max_output_bytes: 1_048_576,
    max_file_read_bytes: 1_048_576,
    max_processes_per_session: 8,
    max_concurrent_sessions: 16,
  });
  const { session_id } = opened;
  expect(
    (await rexd.call('exec.start', { session_id, command: 'true' })).error,
    'no shell unless asked for',
  ).toMatchObject({ code: -32602 });
});
