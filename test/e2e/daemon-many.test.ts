// A daemon with more to do than usual: many clients, a flood, others on the same state, secrets that change under it.

import { existsSync, writeFileSync } from 'node:fs';
import { Agent, type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { RexClient } from '../../src/client/rex/rex-client.js';
import { openUnixLink } from '../../src/client/rex/unix-link.js';
import { openWebSocketLink } from '../../src/client/rex/websocket-link.js';
import { MAX_POST_BYTES, MAX_POSTED_BYTES, MAX_REQUESTS_IN_FLIGHT } from '../../src/rexd/daemon/daemon.js';
import { makeCertificates } from '../helpers/certificates.js';
import { DaemonUnderTest, TOKEN } from '../helpers/daemon.js';
import { isAlive } from '../helpers/proc.js';
import { bin, Program } from '../helpers/program.js';
import { until } from '../helpers/wait.js';

const CLIENTS = 100;

test(`${CLIENTS} WebSockets at once: each has the output of its own commands, and nobody else's; SIGTERM ends it all`, async () => {
  await using daemon = await DaemonUnderTest.start({ limits: { max_concurrent_sessions: CLIENTS } });
  const left: number[] = [];
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => daemon.webSocket()));
  await Promise.all(
    sockets.map(async (frames, i) => {
      const session_id = await frames.openSession();
      const started = await Promise.all(
        [0, 1].map((n) =>
          frames.ask('exec.start', {
            session_id,
            argv: ['sh', '-c', `cat; exit ${n}`],
            stdin: `${i}.${n}\n`,
          }),
        ),
      );
      for (const [n, { process_id }] of started.entries()) {
        const { params } = await frames.event('exec.exit', process_id);
        expect(params).toMatchObject({ session_id, exit_code: n });
        const out = frames.messages.filter(
          ({ method, params: of }) => method === 'exec.stdout' && of?.['process_id'] === process_id,
        );
        expect(out.map(({ params: of }) => of?.['data']).join('')).toBe(`${i}.${n}\n`);
      }
      const events = frames.messages.filter(({ method }) => method !== undefined);
      const own = new Set(started.map(({ process_id }) => process_id));
      expect(events.filter(({ params }) => !own.has(params?.['process_id']))).toEqual([]);
      // Only a few: to end each takes several looks at all processes of the machine.
      if (i % 10 === 0)
        left.push(Number((await frames.ask('exec.start', { session_id, argv: ['sleep', '1000'] }))['pid']));
    }),
  );
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toEqual({ code: 0, signal: null });
  await Promise.all(sockets.map(({ closed }) => closed));
  expect([left.length, left.filter(isAlive)]).toEqual([CLIENTS / 10, []]);
}, 120_000);

test('of a flood of POSTs those past MAX_REQUESTS_IN_FLIGHT are told to come later; other clients are served meanwhile', async () => {
  await using daemon = await DaemonUnderTest.start({ args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'] });
  const agent = new Agent({ keepAlive: true });
  const given: AbortController[] = [];
  try {
    await using beside = await RexClient.open(await openUnixLink(join(daemon.base, 's')), {
      clientName: 'unix',
    });
    await using framed = await RexClient.open(await openWebSocketLink({ url: daemon.url, token: TOKEN }), {
      clientName: 'ws',
    });
    const session_id = await daemon.openSession();
    const { process_id } = await daemon.ask('exec.start', { session_id, argv: ['sleep', '1000'] });
    const params = { session_id, process_id, timeout_ms: 120_000 };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'exec.wait', params });
    const refused: Promise<{ status: number; text: string } | undefined>[] = [];
    for (let i = 0; i < MAX_REQUESTS_IN_FLIGHT + 50; i++) {
      const off = new AbortController();
      given.push(off);
      refused.push(daemon.post(body, { agent, signal: off.signal }).catch(() => undefined));
    }
    const told: { status: number; text: string }[] = [];
    for (const each of refused) void each.then((reply) => reply !== undefined && told.push(reply));
    await until(() => told.length >= 50, 'those that are too many');
    expect(told).toHaveLength(50);
    for (const { status, text } of told) {
      expect(status).toBe(503);
      expect(JSON.parse(text)).toMatchObject({ error: { code: -32_008, data: { reason: 'overloaded' } } });
    }
    for (const client of [beside, framed])
      expect((await client.run({ argv: ['echo', 'served'] })).stdout.toString()).toBe('served\n');
    for (const off of given) off.abort();
    await until(
      async () => (await daemon.post(body.replace('120000', '1'), {})).status === 200,
      'room for requests',
    );
    expect(await daemon.ask('session.info', { session_id })).toMatchObject({ running_processes: 1 });
  } finally {
    for (const off of given) off.abort();
    agent.destroy();
  }
}, 120_000);

test('two daemons and a server on stdio share their state: each finds what was left running, and none is in the way of another', async () => {
  await using one = await DaemonUnderTest.start({ args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'] });
  const state = join(one.base, 'state');
  const shared = ['[[security.allowed_roots]]', `path = ${JSON.stringify(one.root)}`];
  await using other = await DaemonUnderTest.start({ tables: shared, env: { XDG_STATE_HOME: state } });
  const command = [
    process.execPath,
    bin('rexd'),
    '--stdio',
    '--config',
    join(one.base, 'config.toml'),
  ] as const;
  await using stdio = new Program([...command], { env: { XDG_STATE_HOME: state } });
  const asked = async (id: number, method: string, params: object): Promise<Record<string, unknown>> => {
    stdio.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const message = JSON.parse((await stdio.line()) ?? 'null') as { id?: number; result?: object };
      if (message.id === id) return { ...message.result };
    }
  };
  const sessions = [await one.openSession(), await other.openSession()];
  const { session_id: third } = await asked(1, 'session.open', { client_name: 'stdio' });
  const detached = await one.ask('exec.start', {
    session_id: sessions[0],
    argv: ['sh', '-c', 'echo left; exec sleep 1000'],
    detach: true,
    cwd: one.root,
  });
  const { process_id } = detached;
  const pid = Number(detached['pid']);
  try {
    await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        for (const [daemon, session_id] of [
          [one, sessions[0]],
          [other, sessions[1]],
        ] as const) {
          const ran = await daemon.ask('exec.start', {
            session_id,
            argv: ['echo', String(i)],
            stdin: '',
            request_id: `r${i}`,
          });
          const of = { session_id, process_id: ran['process_id'] };
          await daemon.ask('exec.wait', of);
          expect(await daemon.ask('exec.read', of)).toMatchObject({ data: `${i}\n` });
        }
      }),
    );
    one.child.kill('SIGKILL');
    await one.ended;
    await until(
      async () =>
        JSON.stringify(await other.ask('exec.read', { session_id: sessions[1], process_id })).includes(
          'left',
        ),
      'what it has printed',
    );
    expect(JSON.stringify(await asked(2, 'exec.list', { session_id: third }))).toContain(String(process_id));
    expect(isAlive(pid)).toBe(true);
    await other.ask('exec.kill', { session_id: sessions[1], process_id, signal: 'SIGKILL' });
    await until(() => !isAlive(pid), 'the end of what was left');
  } finally {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  }
  stdio.child.stdin.end();
  expect((await stdio.ended).code).toBe(0);
});

test('SIGHUP reads the token and the certificate again; what is connected stays, and what cannot be read changes nothing', async () => {
  const [old, renewed] = [makeCertificates(), makeCertificates()];
  await using daemon = await DaemonUnderTest.start({
    server: ['tls_cert = "{base}/crt"', 'tls_key = "{base}/key"', 'token_file = "{base}/token"'],
    env: { REXD_TOKEN: undefined },
    prepare: (base) => {
      writeFileSync(join(base, 'crt'), old['server.crt']);
      writeFileSync(join(base, 'key'), old['server.key'], { mode: 0o600 });
      writeFileSync(join(base, 'token'), TOKEN, { mode: 0o600 });
    },
  });
  const open = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.open', params: {} });
  const status = async (token: string, tls: { ca: Buffer }): Promise<number> =>
    (await daemon.post(open, { tls, headers: { Authorization: `Bearer ${token}` } })).status;
  const trusts = [{ ca: old['ca.crt'] }, { ca: renewed['ca.crt'] }] as const;
  expect(await status(TOKEN, trusts[0])).toBe(200);
  await using client = await RexClient.open(
    await openWebSocketLink({ url: daemon.url, token: TOKEN, ca: old['ca.crt'] }),
    { clientName: 'test' },
  );
  const running = await client.start({ argv: ['cat'] });
  writeFileSync(join(daemon.base, 'crt'), renewed['server.crt']);
  writeFileSync(join(daemon.base, 'key'), renewed['server.key']);
  writeFileSync(join(daemon.base, 'token'), `${TOKEN}-renewed`);
  daemon.child.kill('SIGHUP');
  await until(
    async () => (await servedBy(daemon.url)) !== (await fingerprint(old['server.crt'])),
    'the new certificate',
  );
  expect(await status(`${TOKEN}-renewed`, trusts[1])).toBe(200);
  expect(await status(TOKEN, trusts[1])).toBe(401);
  await expect(status(`${TOKEN}-renewed`, trusts[0])).rejects.toThrow(/certificate/);
  await running.write('still here\n');
  await running.endInput();
  let out = '';
  for await (const { bytes } of running) out += bytes.toString('utf8');
  expect(out).toBe('still here\n');
  writeFileSync(join(daemon.base, 'token'), '');
  daemon.child.kill('SIGHUP');
  await until(() => daemon.stderr.includes('what was read before holds on'), 'what is said of it');
  expect(await status(`${TOKEN}-renewed`, trusts[1])).toBe(200);
});

async function servedBy(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

async function fingerprint(pem: Buffer): Promise<string> {
  const { X509Certificate } = await import('node:crypto');
  return new X509Certificate(pem).fingerprint256;
}

test('of large POSTs those past MAX_POSTED_BYTES are told to come later; small ones are served meanwhile', async () => {
  await using daemon = await DaemonUnderTest.start();
  const almost = Buffer.alloc(MAX_POST_BYTES - 1, 0x20);
  const headers = {
    Authorization: `Bearer ${TOKEN}`,
    'Content-Type': 'application/json',
    'Content-Length': MAX_POST_BYTES,
  };
  const open = new Set<ClientRequest>();
  let over = false;
  const hold = (): void => {
    const req = request(new URL('/rpc', daemon.url), { method: 'POST', headers });
    open.add(req);
    req.on('error', () => {}); // cut off below
    // One whose bytes come while our own question has its place is refused itself, and comes again.
    req.once('response', () => {
      open.delete(req);
      req.destroy();
      if (!over) hold();
    });
    req.write(almost);
  };
  for (let held = 0; held < MAX_POSTED_BYTES / MAX_POST_BYTES; held++) hold();
  try {
    const large = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(2_000_000) });
    const refused = await until(async () => {
      const reply = await daemon.post(large);
      return reply.status === 503 ? reply : undefined;
    }, 'one that is told to come later');
    expect(refused.json).toMatchObject({ error: { code: -32_008, data: { reason: 'overloaded' } } });
    expect(await daemon.openSession()).toMatch(/^s_/);
  } finally {
    over = true;
    for (const req of open) req.destroy();
  }
  await until(async () => (await daemon.post('{"large":"'.padEnd(2_000_000) + '"}')).status === 200, 'room');
});

test('told to end at any moment of its start, it leaves no socket behind', async () => {
  for (let n = 0; n < 10; n++) {
    await using daemon = new DaemonUnderTest({ args: ['--unix', '{base}/s'] });
    if (n > 0) await until(() => existsSync(join(daemon.base, 's')), 'its socket');
    else await delay(100);
    daemon.child.kill(n % 2 === 0 ? 'SIGTERM' : 'SIGINT');
    await daemon.ended;
    expect(existsSync(join(daemon.base, 's'))).toBe(false);
  }
});
