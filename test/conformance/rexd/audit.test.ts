// REXD v1: the audit log.

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { ExecClient } from '../kit/exec-client.js';
import { auditLines, auditText, type AuditLine } from '../kit/read-audit.js';
import { showCommand } from '../kit/pty-client.js';
import { verifies } from '../kit/verifies.js';

const open = (...more: string[]): Promise<ExecClient> =>
  ExecClient.open({
    config: { tables: ['[audit]', 'enabled = true', 'path = "{base}/audit.log"', ...more] },
  });

/** Everything that was audited, once the server has ended. The grounds are still there then. */
async function audited(client: ExecClient): Promise<string> {
  client.rexd.endInput();
  await client.rexd.ended;
  return join(client.rexd.grounds.base, 'audit.log');
}

const of = (lines: AuditLine[], method: string): AuditLine[] =>
  lines.filter((line) => line['method'] === method);

verifies('rexd/audit/entries', async () => {
  await using client = await open();
  await client.ask('fs.write', { path: 'f', content: 'hello' });
  await client.refused('fs.read', { path: '/etc/passwd' });
  await client.refused('no.such', {});
  await client.ask('fs.read', { path: 'f' });
  const lines = auditLines(await audited(client));
  for (const line of lines)
    expect(line).toMatchObject({
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      method: expect.any(String),
      session_id: client.sessionId,
      client_name: 'exec',
      params: expect.any(Object),
      duration_ms: expect.any(Number),
    });
  expect(lines.map(({ method }) => method)).toEqual([
    'session.open',
    'fs.write',
    'fs.read',
    'no.such',
    'fs.read',
  ]);
  expect(lines[1]).toMatchObject({
    params: { path: 'f', content: '<5 bytes>' },
    result: { bytes_written: 5, created: true },
  });
  expect(lines[2]).toMatchObject({
    params: { path: '/etc/passwd' },
    error: { code: -32002, message: expect.any(String) },
  });
  expect(lines[2]).not.toHaveProperty('result');
  expect(lines[3]).toMatchObject({ error: { code: -32601 } });
  expect(lines[4]).toMatchObject({ result: { bytes: expect.any(Number) } });
});

verifies('rexd/audit/client', async () => {
  await using client = await open();
  const sessions = new Map<unknown, string>([[client.sessionId, 'exec']]);
  for (const client_name of ['first', 'second'])
    sessions.set((await client.ask('session.open', { client_name }))['session_id'], client_name);
  await client.refused('session.open', { client_name: 'refused', workspace_roots: ['/nowhere'] });
  for (const session_id of sessions.keys()) {
    await client.ask('fs.stat', { session_id, path: '.' });
    await client.refused('fs.read', { session_id, path: '/etc/passwd', client_name: 'pretended' });
    await client.run({ session_id, argv: ['true'] });
  }
  for (const session_id of [...sessions.keys()].slice(1)) await client.ask('session.close', { session_id });
  const lines = auditLines(await audited(client));
  for (const name of sessions.values())
    expect(
      lines.filter((line) => line['client_name'] === name).map(({ method }) => method),
      name,
    ).toEqual(expect.arrayContaining(['session.open', 'fs.stat', 'fs.read', 'exec.start', 'exec.exit']));
  const told = lines.filter((line) => line['session_id'] !== undefined);
  for (const line of told) expect(line['client_name']).toBe(sessions.get(line['session_id']));
  expect(of(lines, 'session.close').map((line) => line['client_name'])).toEqual(['first', 'second']);
  expect(of(lines, 'session.open').map((line) => line['client_name'])).toContain('refused');
});

verifies('rexd/audit/exit-code', async () => {
  await using client = await open();
  const { id } = await client.sh('echo out; exit 7');
  await client.ask('exec.wait', { process_id: id });
  await client.sh('kill -9 $$');
  await showCommand(client, 'exit 9');
  const running = await client.start({ argv: ['sleep', '60'] });
  const lines = auditLines(await audited(client));
  expect(of(lines, 'exec.exit')).toEqual([
    expect.objectContaining({
      session_id: client.sessionId,
      client_name: 'exec',
      exit_code: 7,
      result: expect.objectContaining({ process_id: id, signal: null, timed_out: false, bytes_stdout: 4 }),
    }),
    expect.objectContaining({ exit_code: 137, result: expect.objectContaining({ signal: 'SIGKILL' }) }),
    expect.objectContaining({ exit_code: 143, result: expect.objectContaining({ process_id: running }) }),
  ]);
  expect(of(lines, 'exec.wait')).toEqual([expect.objectContaining({ exit_code: 7 })]);
  expect(of(lines, 'pty.exit')).toEqual([expect.objectContaining({ exit_code: 9 })]);
});

verifies('rexd/shell/audited', async () => {
  await using client = await open();
  await client.run({ argv: ['true'] });
  await client.sh('true');
  const [plain, shell] = of(auditLines(await audited(client)), 'exec.start');
  expect(plain).toMatchObject({ params: { argv: ['true'] } });
  expect(plain?.['params']).not.toMatchObject({ shell: true });
  expect(shell).toMatchObject({ params: { shell: true, command: 'true' } });
});

/** Long enough not to be there by chance, of letters that JSON does not escape; also of those that part a URL or a pair. */
const secret = fc.stringMatching(/^[A-Za-z][A-Za-z0-9+_.\-/@:=#?]{24,40}[A-Za-z0-9]$/);

verifies('rexd/audit/redacted', async () => {
  await using client = await open();
  const placed: string[] = [];
  const values = fc.sample(secret, 600); // all at once: each sample of one would be the same
  const place = (): string => {
    const value = values.pop();
    if (value === undefined) throw new Error('there are not enough of them');
    placed.push(value);
    return value;
  };
  writeFileSync(join(client.root, 'secret.txt'), `before\n${place()}\n${place()}\n`);
  const waiting = await client.start({ argv: ['cat'] });
  const { pty_id } = await client.ask('pty.open', { argv: ['cat'] });
  for (let round = 0; round < 5; round++) {
    const calls: [string, Record<string, unknown>][] = [
      ['fs.write', { path: 'f', content: place() }],
      ['fs.write', { path: 'f', content: Buffer.from(place()).toString('base64'), encoding: 'base64' }],
      ['fs.write', { path: 'nowhere/f', content: place() }],
      ['fs.write', { path: 'f', content: place(), mode: place().slice(0, 3) }],
      ['fs.edit', { path: 'f', old_string: place(), new_string: place() }],
      ['fs.patch', { patch_text: `*** Begin Patch\n*** Add File: p${round}\n+${place()}\n*** End Patch\n` }],
      ['fs.patch', { patch_text: place() }],
      ['fs.read', { path: 'secret.txt' }],
      // What is found, and what stands around it, is contents. The query itself is not: it is what was asked.
      ['fs.search', { query: 'before', path: 'secret.txt', context: 2 }],
      ['fs.search', { query: '^[A-Za-z]', regex: true, path: 'secret.txt' }],
      ['exec.start', { argv: ['cat'], stdin: place(), env: { INNOCENT: place(), API_KEY: place() } }],
      ['exec.start', { argv: ['true', '--password', place(), `--token=${place()}`, `API_KEY=${place()}`] }],
      [
        'exec.start',
        { argv: ['true', '-H', `Authorization: Bearer ${place()}`, `https://user:${place()}@example.com/`] },
      ],
      ['exec.start', { shell: true, command: `true --password ${place()} TOKEN=${place()}`, stdin: '' }],
      ...[
        `postgresql://u:${place()}@h/db`,
        `--from-literal=password=${place()}`,
        `--env=DB_PASSWORD=${place()}`,
        `https://h/?token=${place()}`,
        `note: password=${place()}`,
        `{"a":"password=${place()}"}`,
      ].flatMap((word): [string, Record<string, unknown>][] => [
        ['exec.start', { argv: ['true', word] }],
        ['exec.start', { argv: ['true', '-c', `true '${word}'`] }],
        ['exec.start', { shell: true, command: `true '${word}'`, stdin: '' }],
      ]),
      ...[
        `redis-cli -a ${place()}`,
        `zip -P ${place()} x`,
        `openssl enc -k ${place()}`,
        `7z a -p${place()} x`,
        `docker login -u x -p ${place()}`,
      ].flatMap((line): [string, Record<string, unknown>][] => [
        ['exec.start', { argv: ['true', ...line.split(' ')] }],
        ['exec.start', { argv: ['true', '-c', line] }],
        ['exec.start', { shell: true, command: `true ${line}`, stdin: '' }],
      ]),
      ['exec.start', { argv: ['no-such-program', '--secret', place()], env: { A: place() } }],
      ['exec.input', { process_id: waiting, data: place() }],
      ['exec.input', { process_id: 'p_none', data: place() }],
      ['pty.input', { pty_id, data: place() }],
      ['session.open', { client_name: 'exec', token: place(), auth: { password: place() } }],
      ['no.such', { password: place(), stdin: [place()], env: { X: place() }, content: place() }],
    ];
    for (const [method, params] of calls) await client.call(method, params);
  }
  client.rexd.write(`{"jsonrpc":"2.0","id":1,"method":"fs.write","params":{"content":"${place()}\n`);
  await client.ask('exec.kill', { process_id: waiting });
  const text = auditText(await audited(client));
  expect(text.split('\n').length).toBeGreaterThan(90);
  expect(of(auditLines(join(client.rexd.grounds.base, 'audit.log')), 'fs.search').at(-1)).toMatchObject({
    result: { matches: expect.arrayContaining([expect.objectContaining({ line: 2 })]) },
  });
  const found = placed.filter((value) => text.includes(value) || client.rexd.stderr.includes(value));
  expect(found, 'secrets in the audit log or in the log').toEqual([]);
  const encoded = placed.filter((value) => text.includes(Buffer.from(value).toString('base64').slice(0, 24)));
  expect(encoded, 'the same as base64').toEqual([]);
});

verifies('rexd/audit/untouched', async () => {
  await using client = await ExecClient.open({
    config: {
      tables: [
        '[[security.allowed_roots]]',
        'path = "{base}"',
        '[audit]',
        'enabled = true',
        'path = "{base}/log/audit.log"',
      ],
    },
  });
  const { base, config } = client.rexd.grounds;
  const session_id = (await client.ask('session.open', { workspace_roots: [base] }))['session_id'];
  const before = readFileSync(config, 'utf8');
  writeFileSync(join(base, 'f'), 'x');
  for (const path of [join(base, 'log/audit.log'), join(base, 'log/audit.log.1'), config]) {
    for (const [method, params] of [
      ['fs.read', { path }],
      ['fs.write', { path, content: '' }],
      ['fs.write', { path, content: '', atomic: false }],
      ['fs.edit', { path, old_string: '', new_string: 'x' }],
      ['fs.patch', { patch_text: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch\n` }],
      ['fs.remove', { path }],
      ['fs.move', { from: path, to: join(base, 'moved') }],
      ['fs.move', { from: join(base, 'f'), to: path, overwrite: true }],
      ['fs.copy', { from: path, to: join(base, 'copied') }],
      ['fs.copy', { from: join(base, 'f'), to: path, overwrite: true }],
    ] as const)
      expect(await client.refused(method, { session_id, ...params }), `${method} ${path}`).toMatchObject({
        code: -32002,
      });
  }
  for (const [method, params] of [
    ['fs.remove', { path: join(base, 'log'), recursive: true }],
    ['fs.move', { from: join(base, 'log'), to: join(base, 'away') }],
  ] as const)
    expect(await client.refused(method, { session_id, ...params })).toMatchObject({ code: -32002 });
  expect(await client.ask('fs.list', { session_id, path: join(base, 'log') })).toMatchObject({ entries: [] });
  expect(
    (await client.ask('fs.search', { session_id, path: base, query: 'enabled = true' }))['matches'],
  ).toEqual([]);
  expect(readFileSync(config, 'utf8')).toBe(before);
  client.rexd.endInput();
  await client.rexd.ended;
  const lines = auditLines(join(base, 'log/audit.log'));
  expect(of(lines, 'session.open')).toHaveLength(2);
  expect(client.rexd.stderr).toContain('commands can change the audit log');
});

verifies('rexd/audit/file', async () => {
  await using client = await open('max_bytes = 65536', 'keep = 2');
  const path = 'x'.repeat(1000);
  for (let i = 0; i < 300; i++) await client.call('fs.stat', { path: `${path}${i}` });
  const file = await audited(client);
  for (const name of [file, `${file}.1`, `${file}.2`]) {
    expect(statSync(name).mode & 0o777, name).toBe(0o600);
    expect(statSync(name).size, name).toBeLessThanOrEqual(65_536);
  }
  expect(statSync(`${file}.3`, { throwIfNoEntry: false }), 'only two are kept').toBeUndefined();
  const last = auditLines(file).at(-1);
  expect(last, 'the newest are there').toMatchObject({ params: { path: expect.stringMatching(/^x+/) } });
});
