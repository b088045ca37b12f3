// JSON-RPC by POST: what comes back, who may ask, and what lives on between two requests.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { MAX_POST_BYTES } from '../../../src/rexd/daemon/daemon.js';
import { makeCertificates } from '../../helpers/certificates.js';
import { type Ask, DaemonUnderTest, TOKEN } from '../../helpers/daemon.js';
import { isAlive } from '../../helpers/proc.js';
import { bin, run } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

let daemon: DaemonUnderTest;
beforeAll(async () => {
  daemon = await DaemonUnderTest.start({
    tables: ['[audit]', 'enabled = true', 'path = "{base}/audit.log"'],
    limits: { max_concurrent_sessions: 64 },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** How a client is told by TLS that it is not let in, now or with its first bytes. */
const REFUSED = /certificate|alert|socket hang up|ECONNRESET|EPIPE/i;
const OPEN = '{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"x"}}';

verifies('rexd/http/flag', async (_, skip) => {
  skipForeign(skip);
  await using one = await DaemonUnderTest.start({ server: ['stdio = true'] });
  one.endInput();
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await one.post(OPEN)).json.result).toMatchObject({ protocol: 'rexd/1' });
  expect(one.child.exitCode).toBeNull();
});

verifies('rexd/http/auth-required', async (_, skip) => {
  skipForeign(skip);
  const env = { REXD_TOKEN: undefined, XDG_CONFIG_HOME: daemon.base };
  const { code, stderr, stdout } = await run([process.execPath, bin('rexd'), '--http', '127.0.0.1:0'], {
    env,
  });
  expect(code).toBe(2);
  expect(stdout).toBe('');
  for (const way of ['REXD_TOKEN', 'server.token_file', 'tls_client_ca']) expect(stderr).toContain(way);
  const empty = await run([process.execPath, bin('rexd'), '--http', '127.0.0.1:0'], {
    env: { ...env, REXD_TOKEN: '' },
  });
  expect(empty.code).toBe(2);
});

verifies('rexd/http/token', async (_, skip) => {
  skipForeign(skip);
  const headers = { 'Content-Type': 'application/json' };
  const wrong = [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${TOKEN}x`,
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer ${TOKEN.slice(1)}`,
  ];
  for (const Authorization of wrong) {
    const all = Authorization === '' ? headers : { ...headers, Authorization };
    const reply = await daemon.http('/rpc', { method: 'POST', headers: all, body: OPEN });
    expect([reply.status, reply.json.error?.code], Authorization).toEqual([401, -32_001]);
    expect(reply.headers['www-authenticate']).toContain('Bearer');
  }
  expect((await daemon.http('/metrics')).status).toBe(401);
  const right = await daemon.post(OPEN, { headers: { Authorization: `bearer ${TOKEN}` } });
  expect(right.json.result).toMatchObject({ protocol: 'rexd/1' });
});

verifies('rexd/http/token-secret', async (_, skip) => {
  skipForeign(skip);
  const session_id = await daemon.openSession();
  const { process_id } = await daemon.ask('exec.start', { session_id, argv: ['env'], stdin: '' });
  await daemon.ask('exec.wait', { session_id, process_id });
  const { data } = await daemon.ask('exec.read', { session_id, process_id });
  expect(data).toContain('PATH=');
  expect(data).not.toContain(TOKEN);
  expect(daemon.stderr).not.toContain(TOKEN);
  expect(readFileSync(`/proc/${daemon.child.pid}/cmdline`, 'utf8')).not.toContain(TOKEN);
  const audit = await until(
    () =>
      readFileSync(join(daemon.base, 'audit.log'), 'utf8').includes('exec.exit') &&
      readFileSync(join(daemon.base, 'audit.log'), 'utf8'),
    'the audit log',
  );
  expect(audit).not.toContain(TOKEN);
});

verifies('rexd/http/private', async (_, skip) => {
  skipForeign(skip);
  const listen = async (args: string[], server: string[] = []): Promise<DaemonUnderTest> =>
    await DaemonUnderTest.start({ args, server });
  await using bare = await listen(['--http', '0']);
  expect(bare.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  await using refused = await listen(['--http', '0.0.0.0:0']);
  expect([(await refused.ended).code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('--allow-remote'),
  ]);
  await using clear = await listen(['--http', '0.0.0.0:0', '--allow-remote']);
  expect([(await clear.ended).code, clear.stderr]).toEqual([2, expect.stringContaining('tls_cert')]);
  await using proxied = await listen(
    ['--http', '0.0.0.0:0', '--allow-remote'],
    ['behind_proxy = true', 'allowed_hosts = ["rexd.example.org"]'],
  );
  const port = new URL(proxied.url).port;
  const ask = (Host: string) => proxied.post(OPEN, { headers: { Host } });
  expect((await ask('rexd.example.org')).status).toBe(200);
  expect((await ask(`localhost:${port}`)).status).toBe(200);
  expect((await ask('evil.example.org')).status).toBe(403);
});

verifies('rexd/http/browser', async (_, skip) => {
  skipForeign(skip);
  const refused: [Record<string, string>, number][] = [
    [{ Host: 'evil.example.org' }, 403],
    [{ Host: `127.0.0.1.nip.io:${new URL(daemon.url).port}` }, 403],
    [{ Origin: 'https://evil.example.org' }, 403],
    [{ Origin: 'null' }, 403],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ 'Content-Type': 'text/plain' }, 415],
    [{ 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
    [{ 'Content-Type': 'application/json; charset=latin1' }, 415],
  ];
  for (const [headers, status] of refused) {
    const reply = await daemon.post(OPEN, { headers });
    expect([reply.status, reply.json.result], JSON.stringify(headers)).toEqual([status, undefined]);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  }
  const health = await daemon.http('/health', { headers: { Origin: 'https://evil.example.org' } });
  expect(health.status).toBe(403);
  const own = { Origin: daemon.url, 'Content-Type': 'application/json; charset=utf-8' };
  expect((await daemon.post(OPEN, { headers: own })).status).toBe(200);
});

verifies('rexd/http/post', async (_, skip) => {
  skipForeign(skip);
  for (const id of ['9007199254740993', '"a"', '0', '""', '1.0', 'null']) {
    const reply = await daemon.post(
      `{"jsonrpc":"2.0","id":${id},"method":"session.info","params":{"session_id":"s"}}`,
    );
    expect([reply.status, reply.json.error?.code], id).toEqual([200, -32_602]);
    expect(reply.text).toContain(`"id":${id},`);
    expect(reply.headers['content-type']).toBe('application/json');
  }
  const pretty = JSON.stringify(JSON.parse(OPEN), undefined, 2);
  const session_id = (await daemon.post(pretty)).json.result?.['session_id'];
  const batch = [
    { jsonrpc: '2.0', id: 'a', method: 'session.info', params: { session_id } },
    { jsonrpc: '2.0', method: 'session.info', params: { session_id } },
    { jsonrpc: '2.0', id: 'b', method: 'no.such' },
    5,
  ];
  const { status, text } = await daemon.post(JSON.stringify(batch));
  const answers = JSON.parse(text) as { id: unknown; error?: { code: number } }[];
  expect(status).toBe(200);
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    ['a', undefined],
    ['b', -32_601],
    [null, -32_600],
  ]);
  expect((await daemon.post('[]')).json.error?.code).toBe(-32_600);
  expect((await daemon.http('/elsewhere')).status).toBe(404);
});

verifies('rexd/http/notification', async (_, skip) => {
  skipForeign(skip);
  const one = { jsonrpc: '2.0', method: 'session.info', params: {} };
  for (const body of [one, [one, one]]) {
    const reply = await daemon.post(JSON.stringify(body));
    expect([reply.status, reply.text]).toEqual([204, '']);
  }
  const opened = await daemon.post('{"jsonrpc":"2.0","method":"session.open","params":{}}');
  expect(opened.status).toBe(204);
});

verifies('rexd/http/wrong-method', async (_, skip) => {
  skipForeign(skip);
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const reply = await daemon.http('/rpc', { method, headers: { Authorization: `Bearer ${TOKEN}` } });
    expect([reply.status, reply.headers['allow']], method).toEqual([405, expect.stringContaining('POST')]);
  }
  expect((await daemon.http('/ws')).status).toBe(426);
});

verifies('rexd/http/parse-error', async (_, skip) => {
  skipForeign(skip);
  const bad = ['{not json', '', '{"jsonrpc":"2.0"', '{"a":"line\nbreak"}', `${OPEN}\n${OPEN}`];
  for (const body of [...bad, Buffer.from([0x22, 0xff, 0x22])]) {
    const reply = await daemon.post(body);
    expect([reply.status, reply.json.error?.code, reply.json.id], String(body)).toEqual([400, -32_700, null]);
  }
  expect((await daemon.post(OPEN)).status).toBe(200);
});

verifies('rexd/http/body-cap', async (_, skip) => {
  skipForeign(skip);
  const most = Buffer.alloc(MAX_POST_BYTES, 0x20);
  expect((await daemon.post(most)).status).toBe(400);
  const reply = await daemon.post(Buffer.alloc(MAX_POST_BYTES + 1, 0x20));
  expect([reply.status, reply.json.error?.code]).toEqual([413, -32_600]);
  expect((await daemon.post(OPEN)).status).toBe(200);
});

verifies('rexd/http/exec-survives', async (_, skip) => {
  skipForeign(skip);
  const session_id = await daemon.openSession();
  const { process_id, pid } = await daemon.ask('exec.start', { session_id, argv: ['cat'] });
  expect(isAlive(Number(pid))).toBe(true);
  expect(await daemon.ask('exec.wait', { session_id, process_id, timeout_ms: 50 })).toMatchObject({
    status: 'running',
  });
  await daemon.ask('exec.input', { session_id, process_id, data: 'hello', eof: true });
  expect(await daemon.ask('exec.wait', { session_id, process_id })).toMatchObject({
    status: 'exited',
    exit_code: 0,
  });
  expect(await daemon.ask('exec.read', { session_id, process_id })).toMatchObject({ data: 'hello' });
  const second = await daemon.ask('exec.start', { session_id, argv: ['sleep', '1000'] });
  const { process_id: sleeper } = second;
  await daemon.ask('exec.kill', { session_id, process_id: sleeper, signal: 'KILL' });
  expect(await daemon.ask('exec.wait', { session_id, process_id: sleeper })).toMatchObject({
    status: 'killed',
  });
  await daemon.ask('session.close', { session_id });
  expect((await daemon.call('session.info', { session_id })).error?.code).toBe(-32_602);
});

verifies('rexd/http/disconnect', async (_, skip) => {
  skipForeign(skip);
  const session_id = await daemon.openSession();
  const { process_id, pid } = await daemon.ask('exec.start', { session_id, argv: ['sleep', '1000'] });
  const leave = new AbortController();
  const waiting = daemon.call(
    'exec.wait',
    { session_id, process_id, timeout_ms: 60_000 },
    { signal: leave.signal },
  );
  waiting.catch(() => {});
  const inFlight = async (): Promise<number> => {
    const { text } = await daemon.http('/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } });
    return Number(/^rexd_http_in_flight (\d+)$/m.exec(text)?.[1]);
  };
  await until(async () => (await inFlight()) === 2, 'exec.wait to be waited for');
  leave.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  await until(async () => (await inFlight()) === 1, 'exec.wait to be over');
  expect(isAlive(Number(pid))).toBe(true);
  await daemon.ask('session.close', { session_id });
  await until(() => !isAlive(Number(pid)), 'the end of the program');
});

verifies('rexd/http/idle', async (_, skip) => {
  skipForeign(skip);
  await using brief = await DaemonUnderTest.start({
    server: ['session_idle_ms = 6000'], // longer than a busy machine may take between two calls
    limits: { max_concurrent_sessions: 2 },
  });
  const [used, left] = [await brief.openSession(), await brief.openSession()];
  const started = await brief.ask('exec.start', { session_id: left, argv: ['sleep', '1000'] });
  const waited = await brief.ask('exec.start', { session_id: used, argv: ['sleep', '1000'] });
  const wait = { session_id: used, process_id: waited['process_id'], timeout_ms: 8000 };
  // A call in progress keeps its session; a program that runs does not.
  expect(await brief.ask('exec.wait', wait)).toMatchObject({ status: 'running' });
  await until(() => !isAlive(Number(started['pid'])), 'the end of what nobody uses');
  expect((await brief.call('session.info', { session_id: left })).error?.code).toBe(-32_602);
  expect(await brief.ask('session.info', { session_id: used })).toMatchObject({ running_processes: 1 });
  await until(() => !isAlive(Number(waited['pid'])), 'the end of what nobody waits for');
  // A session is over a moment after its programs are. To ask it would be to use it, so its server is asked.
  const metrics = async (): Promise<string> =>
    (await brief.http('/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } })).text;
  await until(async () => /^rexd_sessions 0$/m.test(await metrics()), 'both sessions to be over');
  await brief.openSession();
  await brief.openSession();
});

verifies('rexd/daemon/health', async (_, skip) => {
  skipForeign(skip);
  const reply = await daemon.http('/health');
  expect([reply.status, reply.text]).toEqual([200, '{"status":"ok","protocol":"rexd/1"}']);
});

verifies('rexd/daemon/metrics', async (_, skip) => {
  skipForeign(skip);
  await using counted = await DaemonUnderTest.start();
  const metrics = async (): Promise<Map<string, number>> => {
    const reply = await counted.http('/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } });
    expect(reply.headers['content-type']).toContain('text/plain; version=0.0.4');
    const lines = reply.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]));
  };
  const session_id = await counted.openSession();
  await counted.ask('exec.start', { session_id, argv: ['sleep', '1000'] });
  await counted.call('fs.stat', { session_id, path: '/etc/passwd' });
  await counted.call(`made.up.${'x'.repeat(50)}`);
  await counted.http('/rpc', { method: 'POST', body: OPEN });
  await counted.http('/rpc', { headers: { Host: 'evil.example.org' } });
  using frames = await counted.webSocket();
  await frames.openSession();
  const seen = await metrics();
  expect(seen.get('rexd_requests_total{method="session.open",outcome="ok"}')).toBe(2);
  expect(seen.get('rexd_requests_total{method="fs.stat",outcome="-32002"}')).toBe(1);
  expect(seen.get('rexd_requests_total{method="unknown",outcome="-32601"}')).toBe(1);
  expect(seen.get('rexd_request_duration_seconds_count{method="exec.start"}')).toBe(1);
  expect(seen.get('rexd_http_refused_total{reason="unauthorized"}')).toBe(1);
  expect(seen.get('rexd_http_refused_total{reason="forbidden_host"}')).toBe(1);
  expect(seen.get('rexd_sessions')).toBe(2);
  expect(seen.get('rexd_processes')).toBe(1);
  expect(seen.get('rexd_connections{carrier="ws"}')).toBe(1);
  expect(seen.get('rexd_connections{carrier="http"}')).toBeGreaterThan(0);
  expect(seen.get('rexd_bytes_total{carrier="http",direction="received"}')).toBeGreaterThan(100);
  expect(seen.get('rexd_bytes_total{carrier="ws",direction="sent"}')).toBeGreaterThan(100);
  expect(seen.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  expect([...seen.keys()].join()).not.toContain('made.up');
});

verifies('rexd/http/mtls', async (_, skip) => {
  skipForeign(skip);
  const files = makeCertificates();
  await using secure = await DaemonUnderTest.start({
    server: [
      'tls_cert = "{base}/server.crt"',
      'tls_key = "{base}/server.key"',
      'tls_client_ca = "{base}/ca.crt"',
    ],
    env: { REXD_TOKEN: undefined },
    prepare: (base) => {
      for (const name of ['server.crt', 'server.key', 'ca.crt'] as const)
        writeFileSync(join(base, name), files[name], { mode: 0o600 });
    },
  });
  expect(secure.url).toMatch(/^https:/);
  const ask = (tls: Ask['tls']) =>
    secure.http('/rpc', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: OPEN,
      ...(tls !== undefined && { tls }),
    });
  const ca = files['ca.crt'];
  const known = await ask({ ca, cert: files['client.crt'], key: files['client.key'] });
  expect(known.json.result).toMatchObject({ protocol: 'rexd/1' });
  await expect(ask({ ca })).rejects.toThrow(REFUSED);
  await expect(ask({ ca, cert: files['stranger.crt'], key: files['stranger.key'] })).rejects.toThrow(REFUSED);
  // Each certificate has sessions of its own.
  const other = { ca, cert: files['other.crt'], key: files['other.key'] };
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'session.info',
    params: { session_id: known.json.result?.['session_id'] },
  });
  const spied = await secure.http('/rpc', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
    tls: other,
  });
  expect(spied.json.error?.code).toBe(-32_602);
});

verifies('rexd/http/events', async (_, skip) => {
  skipForeign(skip);
  const opened = await daemon.ask('session.open', { client_name: 'poll', resumable: true });
  const { session_id } = opened;
  const { process_id } = await daemon.ask('exec.start', { session_id, argv: ['echo', 'hi'], stdin: '' });
  const seen: { method: string; params: Record<string, unknown> }[] = [];
  for (let after: unknown = 0; !seen.some(({ method }) => method === 'exec.exit'); ) {
    const { events, event_seq } = await daemon.ask('session.events', { session_id, after, wait_ms: 5000 });
    seen.push(...(events as typeof seen));
    after = event_seq;
  }
  expect(seen.map(({ method }) => method)).toEqual(['exec.stdout', 'exec.exit']);
  expect(seen[0]?.params).toMatchObject({ process_id, data: 'hi\n', event_seq: 1 });
  const plain = await daemon.openSession();
  expect((await daemon.call('session.events', { session_id: plain })).error?.code).toBe(-32_007);
});
