import { connect } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ROUTES } from '../../../../src/string/protocol.js';
import { type DaemonPlace, openDaemon } from './daemon-place.js';

const RUNS = 1500;
/** Long enough for any answer on a busy machine; what is silent for longer is hanging. */
const SILENCE_MS = 20_000;

/** The first line of whatever comes back, or '' when the connection is closed without a word. */
function send(place: DaemonPlace, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(place.daemon.port, '127.0.0.1');
    let text = '';
    socket.setTimeout(SILENCE_MS, () => {
      socket.destroy();
      reject(new Error(`no answer to ${JSON.stringify(bytes.toString().slice(0, 200))}`));
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => resolve(''));
    socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''));
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
  fc.string({ maxLength: 40 }).map((text) => `/${encodeURIComponent(text)}`),
  fc.string({ maxLength: 40 }).map((text) => `/${text.replaceAll(/\s/g, '')}`),
);
const json = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc
    .record(
      {
        cmd: fc.oneof(fc.constantFrom('/info', '/help', '/topics', '/set', '/'), fc.string(), fc.integer()),
        topic: fc.oneof(fc.constantFrom('main', 'app', 'file:x', 'web:x'), fc.string(), fc.constant(null)),
        agent_id: fc.oneof(fc.constant('me'), fc.string()),
        request_id: fc.oneof(fc.string(), fc.integer()),
        jsonrpc: fc.constant('2.0'),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method: fc.oneof(fc.constantFrom('initialize', 'tools/list', 'tools/call', 'ping'), fc.string()),
        params: fc.anything({ maxDepth: 2, withNullPrototype: false }),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
  fc.string(),
);
const request = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'HEAD', 'PATCH', 'BREW'),
    path,
    body: json,
    agent: fc.constantFrom('me', 'nobody', '../x', ''),
    type: fc.constantFrom('application/json', 'text/plain', ''),
    lie: fc.integer({ min: -3, max: 3 }),
    host: fc.constantFrom('127.0.0.1', 'localhost', 'evil.example'),
  })
  .map(({ method, path, body, agent, type, lie, host }) =>
    [
      `${method} ${path} HTTP/1.1`,
      `Host: ${host}`,
      'Connection: close',
      ...(agent === '' ? [] : [`X-Agent-Id: ${agent}`]),
      ...(type === '' ? [] : [`Content-Type: ${type}`]),
      `Content-Length: ${Math.max(0, Buffer.byteLength(body) + Math.min(0, lie))}`,
      '',
      body,
    ].join('\r\n'),
  );

test(`${RUNS} requests of any kind: each is answered or cut, none ends the daemon or hangs`, async () => {
  await using place = await openDaemon();
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: request }, { weight: 1, arbitrary: fc.string() }),
      async (bytes) => {
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await send(place, bytes))?.[1] ?? 0);
        expect(status, bytes.slice(0, 300)).toBeLessThan(500);
      },
    ),
    { numRuns: RUNS },
  );
  expect((await place.ask('/health')).json).toMatchObject({ ok: true });
}, 120_000);
