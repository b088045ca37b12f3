// Requests of any kind at the built daemon: each is answered or cut, none ends it, none makes it larger.

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ROUTES } from '../../src/string/protocol.js';
import { StringdUnderTest } from '../conformance/kit/stringd-under-test.js';

/** `STRINGD_FUZZ=100000` for all of it. */
const RUNS = Number(process.env['STRINGD_FUZZ'] ?? 1600);
/** Requests in flight. */
const AT_ONCE = 16;
/** Long enough for any answer on a busy machine; what is silent for longer is hanging. */
const SILENCE_MS = 30_000;
/** Enough to tell a leak from a heap that finds its size. */
const RUNS_TO_WATCH = 50_000;
const MAX_GROWTH_MIB = 10;
const WATCHES = 20;

/** The status of whatever comes back, or 0 when the connection is closed without a word. */
function send(port: number, bytes: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setTimeout(SILENCE_MS, () => {
      socket.destroy();
      reject(new Error(`no answer to ${JSON.stringify(bytes.slice(0, 300))}`));
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => {}); // a reset is an answer, too; `close` follows
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
    socket.end(bytes);
  });
}

// No /shutdown by the right name, and no stream without an end.
const path = fc.oneof(
  fc.constantFrom(
    ...Object.values(ROUTES)
      .map((route) => route.path)
      .filter((each) => each !== '/shutdown' && each !== '/events/stream'),
  ),
  fc.constantFrom(
    '/sessions/me/main',
    '/sessions/me/bash:x',
    '/agents/me/webhook',
    '/exec/x',
    '/exec?stream=1',
  ),
  fc.string({ maxLength: 40 }).map((text) => `/${encodeURIComponent(text)}`),
  fc.string({ maxLength: 40 }).map((text) => `/${text.replaceAll(/\s/g, '')}`),
);
const json = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc
    .record(
      {
        cmd: fc.oneof(
          fc.constantFrom(
            '/info',
            '/help',
            '/topics',
            '/set',
            '/',
            '//',
            '/ls',
            '/events',
            '/session close x',
          ),
          fc.string().map((text) => `/set {x} = "${text}"`),
          fc.string({ unit: 'grapheme' }),
          fc.integer(),
        ),
        topic: fc.oneof(
          fc.constantFrom('main', 'app', 'event', 'system', 'file:x', 'web:x', 'app:x:y'),
          fc.string(),
          fc.constant(null),
        ),
        agent_id: fc.oneof(fc.constant('me'), fc.string()),
        request_id: fc.oneof(fc.string(), fc.integer()),
        jsonrpc: fc.constantFrom('2.0', '1.0'),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method: fc.oneof(fc.constantFrom('initialize', 'tools/list', 'tools/call', 'ping'), fc.string()),
        params: fc.anything({ maxDepth: 2, withNullPrototype: false }),
      },
      { requiredKeys: [] },
    )
    // The hub could be told to end the daemon.
    .map((value) => JSON.stringify(value).replaceAll('/stop', '/status')),
  fc.string(),
);
const request = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'HEAD', 'PATCH', 'BREW'),
    path,
    body: json,
    agent: fc.constantFrom('me', 'me', 'nobody', '../x', ''),
    type: fc.constantFrom('application/json', 'application/json', 'text/plain', ''),
    lie: fc.constantFrom(0, 0, 0, -1, -3),
    host: fc.constantFrom('127.0.0.1', '127.0.0.1', 'localhost', 'evil.example'),
    more: fc.constantFrom('', 'MCP-Protocol-Version: 2026-07-28', 'Expect: 100-continue', 'Origin: null'),
  })
  .map(({ method, path: target, body, agent, type, lie, host, more }) =>
    [
      `${method} ${target} HTTP/1.1`,
      `Host: ${host}`,
      'Connection: close',
      ...(agent === '' ? [] : [`X-Agent-Id: ${agent}`]),
      ...(type === '' ? [] : [`Content-Type: ${type}`]),
      ...(more === '' ? [] : [more]),
      `Content-Length: ${Math.max(0, Buffer.byteLength(body) + lie)}`,
      '',
      body,
    ].join('\r\n'),
  );
const batch = fc.array(
  fc.oneof({ weight: 9, arbitrary: request }, { weight: 1, arbitrary: fc.string({ unit: 'binary-ascii' }) }),
  { minLength: AT_ONCE, maxLength: AT_ONCE },
);

test(`${RUNS} requests of any kind`, async () => {
  await using stringd = await StringdUnderTest.start({ env: { STRING_WEBHOOK_RATE: '1000000' } });
  const batches = Math.ceil(RUNS / AT_ONCE);
  const sizes: number[] = [];
  let done = 0;
  await fc.assert(
    fc.asyncProperty(batch, async (all) => {
      const statuses = await Promise.all(all.map((bytes) => send(stringd.port, bytes)));
      const broken = all.filter((_, i) => (statuses[i] ?? 0) >= 500);
      expect(broken).toEqual([]);
      done += 1;
      if (done % Math.ceil(batches / WATCHES) === 0) sizes.push(memoryMiB(stringd.child.pid ?? 0));
    }),
    { numRuns: batches, endOnFailure: true },
  );
  expect((await stringd.ask('/health')).json).toMatchObject({ ok: true });
  expect(stringd.child.exitCode).toBeNull();
  if (RUNS >= RUNS_TO_WATCH) process.stdout.write(`memory in MiB: ${sizes.join(' ')}\n`);
  // A heap breathes: single readings differ by more than a leak would add. Medians half a run apart do not.
  const quarter = Math.floor(sizes.length / 4);
  const growth = medianOf(sizes.slice(-quarter)) - medianOf(sizes.slice(quarter, 2 * quarter));
  expect(growth).toBeLessThan(RUNS >= RUNS_TO_WATCH ? MAX_GROWTH_MIB : Number.POSITIVE_INFINITY);
}, 3_600_000);

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function memoryMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib ?? 0) / 1024);
}
