// REXD v1: the errors. Each of its codes for what it is called, with data a program can act on.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { MAX_LINE_BYTES } from '../../../src/wire/ndjson/line-splitter.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { showCommand, Terminal } from '../kit/pty-client.js';
import { startRexd } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';

interface Provoked {
  readonly name: string;
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** Gives the method and the params of a call that must be answered so. */
  readonly call: (client: ExecClient) => Promise<[string, Record<string, unknown>]>;
}

const text = expect.stringMatching(/./) as string;
const number = expect.any(Number) as number;
/** The ten codes of the table, in its order; some are provoked in more than one way. */
const CODES: readonly Provoked[] = [
  {
    name: 'invalid params: wrong type',
    code: -32602,
    data: { issues: [{ path: 'argv[1]', message: text }] },
    call: async () => ['exec.start', { argv: ['ls', 5] }],
  },
  {
    name: 'invalid params: no such session',
    code: -32602,
    data: { session_id: 's_none' },
    call: async () => ['session.info', { session_id: 's_none' }],
  },
  {
    name: 'invalid params: no such file',
    code: -32602,
    data: { reason: 'not_found', path: text },
    call: async () => ['fs.read', { path: 'missing' }],
  },
  {
    name: 'invalid params: no such program',
    code: -32602,
    data: { reason: 'program_not_found', program: 'no-such-program', process_id: text },
    call: async () => ['exec.start', { argv: ['no-such-program'] }],
  },
  {
    name: 'method not found',
    code: -32601,
    data: { method: 'fs.teleport' },
    call: async () => ['fs.teleport', {}],
  },
  {
    name: 'unauthorized',
    code: -32001,
    data: { rule: text, reason: text, class: 'write' },
    call: async () => ['exec.start', { argv: ['shred', 'x'] }],
  },
  {
    name: 'forbidden_path',
    code: -32002,
    data: { path: '/etc/passwd', allowed_roots: [text, text] },
    call: async () => ['fs.read', { path: '/etc/passwd' }],
  },
  {
    name: 'timeout',
    code: -32003,
    data: { timeout_ms: 1000 },
    call: async (client) => {
      const process_id = await client.start({ argv: ['sleep', '60'], timeout_ms: 60_000 });
      return ['exec.input', { process_id, data: 'x'.repeat(1_000_000) }];
    },
  },
  {
    name: 'output_limit_exceeded',
    code: -32004,
    data: { offset: 3000, kept: 2048, size: number },
    call: async (client) => {
      const terminal = await Terminal.open(client, {
        shell: true,
        command: 'head -c 4000 /dev/zero | tr "\\0" x',
      });
      await terminal.exit();
      return ['exec.read', { process_id: terminal.processId, stream: 'stdout', offset: 3000 }];
    },
  },
  {
    name: 'process_not_found: a process',
    code: -32005,
    data: { process_id: 'p_none' },
    call: async () => ['exec.wait', { process_id: 'p_none' }],
  },
  {
    name: 'process_not_found: a terminal',
    code: -32005,
    data: { pty_id: 'pty_none' },
    call: async () => ['pty.input', { pty_id: 'pty_none', data: '' }],
  },
  {
    name: 'concurrency_conflict',
    code: -32006,
    data: { path: text, current: expect.objectContaining({ mtime: number, size: 3 }) as object },
    call: async (client) => {
      writeFileSync(join(client.root, 'f'), 'old');
      return ['fs.write', { path: 'f', content: 'new', expected_mtime: 1 }];
    },
  },
  {
    name: 'unsupported_capability: requested',
    code: -32007,
    data: { capability: 'time-travel' },
    call: async () => ['session.open', { requested_capabilities: ['time-travel'] }],
  },
  {
    name: 'unsupported_capability: used',
    code: -32007,
    data: { capability: 'shell' },
    call: async () => ['exec.start', { shell: true, command: 'true' }],
  },
  {
    name: 'resource_limit: sessions',
    code: -32008,
    data: { limit: 'max_concurrent_sessions', value: 1 },
    call: async () => ['session.open', {}],
  },
  {
    name: 'resource_limit: processes',
    code: -32008,
    data: { limit: 'max_processes_per_session', value: 2 },
    call: async (client) => {
      const sleep = { argv: ['sleep', '60'], timeout_ms: 60_000 }; // longer than the one second of the others
      await client.start(sleep);
      await client.start(sleep);
      return ['exec.start', { argv: ['true'] }];
    },
  },
];

verifies(
  'rexd/errors/every-code',
  async () => {
    const seed = [-32602, -32601, -32001, -32002, -32003, -32004, -32005, -32006, -32007, -32008];
    expect([...new Set(CODES.map(({ code }) => code))]).toEqual(seed);
    const wanted = CODES.map(({ name, code, data }) => ({
      name,
      error: { code, message: text, data: expect.objectContaining(data) as object },
    }));
    const got: unknown[] = [];
    for (const { name, call } of CODES) {
      await using client = await ExecClient.open({
        limits: {
          max_concurrent_sessions: 1,
          max_processes_per_session: 2,
          default_timeout_ms: 1000,
          max_output_bytes: 2048,
        },
        // The shell is off only where that is the question.
        config: {
          security: [
            'deny_commands = ["shred"]',
            ...(name.endsWith(': used') ? ['allow_shell = false'] : []),
          ],
        },
      });
      got.push({ name, error: await client.refused(...(await call(client))) });
    }
    expect(got).toEqual(wanted);
  },
  300_000,
);

verifies('rexd/errors/example', async () => {
  await using rexd = startRexd();
  const { session_id, workspace_roots } = await rexd.ask('session.open', { client_name: 't' });
  rexd.write(
    `{"jsonrpc":"2.0","id":7,"method":"fs.read","params":{"session_id":"${String(session_id)}","path":"/etc/passwd"}}\n`,
  );
  expect(await rexd.answer()).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: {
      code: -32002,
      message: 'Path is outside allowed roots',
      data: { path: '/etc/passwd', allowed_roots: workspace_roots },
    },
  });
});

verifies('rexd/errors/parse', async () => {
  await using rexd = startRexd();
  const wrong: [Buffer, number, RegExp][] = [
    [Buffer.from('{"password":"hunter2",}'), 22, /expected a name/],
    [Buffer.from('{"password":"hunter2"'), 21, /ends too early/],
    [Buffer.from(''), 0, /empty/],
    [
      Buffer.concat([Buffer.from('{"password":"hunter2'), Buffer.of(0xc3, 0x28), Buffer.from('"}')]),
      20,
      /not UTF-8/,
    ],
  ];
  for (const [line, offset, reason] of wrong) {
    rexd.write(Buffer.concat([line, Buffer.of(10)]));
    const answer = await rexd.answer();
    expect(answer).toMatchObject({
      id: null,
      error: {
        code: -32700,
        message: expect.stringContaining(`byte ${offset}`),
        data: { offset, reason: expect.stringMatching(reason) },
      },
    });
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  }
  expect(await rexd.ask('session.open', {}), 'and the server goes on').toMatchObject({ protocol: 'rexd/1' });
});

verifies('rexd/example/read-file', async () => {
  await using client = await ExecClient.open();
  writeFileSync(join(client.root, 'README.md'), '# Hello\n');
  const path = join(client.root, 'README.md');
  expect(await client.ask('fs.read', { path })).toEqual({
    path,
    size: 8,
    mtime: number,
    encoding: 'utf8',
    content: '# Hello\n',
    truncated: false,
  });
});

verifies('rexd/example/write-file', async () => {
  await using client = await ExecClient.open();
  const path = join(client.root, 'README.md');
  const params = { path, content: '# Hello\n', encoding: 'utf8', mode: 'replace', atomic: true };
  expect(await client.ask('fs.write', params)).toMatchObject({
    path,
    bytes_written: 8,
    mtime: number,
    created: true,
  });
  expect((await client.sh('cat README.md')).stdout.toString()).toBe('# Hello\n');
});

verifies('rexd/config/example', async () => {
  // The tables and keys of the page; only the folders are those of the test.
  await using client = await ExecClient.open({
    limits: {
      default_timeout_ms: 30_000,
      hard_timeout_ms: 300_000,
      max_output_bytes: 1_048_576,
      max_file_read_bytes: 1_048_576,
      max_processes_per_session: 8,
      max_concurrent_sessions: 16,
    },
    config: { tables: ['[audit]', 'enabled = true', 'path = "{base}/audit.log"'] },
  });
  const { root, otherRoot } = client.rexd.grounds;
  const opened = await client.ask('session.open', {});
  expect(opened).toMatchObject({
    workspace_roots: [root, otherRoot],
    limits: { max_processes_per_session: 8 },
  });
  expect((await showCommand(client, 'echo shell')).text).toContain('shell');
});

verifies('rexd/messages/event', async () => {
  await using client = await ExecClient.open();
  await client.sh('echo out; echo err >&2');
  await client.refused('exec.start', { argv: ['no-such-program'] });
  await showCommand(client, 'echo shown');
  const events = client.log.filter((message) => 'method' in message);
  const methods = new Set(events.map(({ method }) => method));
  for (const name of ['exec.stdout', 'exec.stderr', 'exec.exit', 'pty.output', 'pty.exit'])
    expect(methods).toContain(name);
  for (const event of events) expect(Object.keys(event).sort()).toEqual(['jsonrpc', 'method', 'params']);
});

verifies('rexd/encoding/batch', async () => {
  await using rexd = startRexd();
  const call = (id: unknown, method: string): object => ({
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    method,
    params: {},
  });
  rexd.write(
    `${JSON.stringify([call(1, 'session.open'), call(undefined, 'session.info'), call('b', 'no.such'), 7])}\n`,
  );
  expect(JSON.parse((await rexd.line()) ?? 'null')).toEqual([
    expect.objectContaining({ id: 1, result: expect.objectContaining({ protocol: 'rexd/1' }) }),
    expect.objectContaining({ id: 'b', error: expect.objectContaining({ code: -32601 }) }),
    expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
  ]);
});

verifies(
  'rexd/encoding/line-limit',
  async () => {
    await using client = await ExecClient.open();
    const content = 'x'.repeat(10 * 1024 * 1024);
    expect(await client.ask('fs.write', { path: 'large', content })).toMatchObject({
      bytes_written: content.length,
    });
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let sent = 0; sent < MAX_LINE_BYTES + piece.length; sent += piece.length) {
      client.rexd.write(piece);
      if (client.rexd.child.stdin.writableNeedDrain) await once(client.rexd.child.stdin, 'drain');
    }
    client.rexd.write('\n');
    await until(() => client.log.find((message) => 'error' in message && message.id === null), 'the refusal');
    expect(await client.ask('session.info'), 'and it goes on').toMatchObject({
      session_id: client.sessionId,
    });
  },
  300_000,
);
