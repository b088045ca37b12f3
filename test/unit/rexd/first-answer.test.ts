// The first answer, given before there is a server, is the one that the server would have given.

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../../src/base/log.js';
import type { AuditLog } from '../../../src/guard/audit.js';
import { Roots } from '../../../src/guard/roots.js';
import { loadConfig } from '../../../src/rexd/config.js';
import type { ServerFacts } from '../../../src/rexd/context.js';
import { answerFirst, MAX_PLAIN_LINE_BYTES } from '../../../src/rexd/first-answer.js';
import { RexdServer } from '../../../src/rexd/server.js';
import { RpcPeer } from '../../../src/wire/jsonrpc/peer.js';
import { linkedPair } from '../../../src/wire/transport/memory.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const silent = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;

let dir: string;
let facts: ServerFacts;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'rexd-first-'));
  mkdirSync(join(dir, 'sub'));
  const config = await loadConfig(undefined, { XDG_CONFIG_HOME: dir });
  facts = {
    roots: Roots.open([dir]),
    limits: config.limits,
    reportVersion: '0',
    capabilities: ['exec', 'fs'],
    policy: config.policy,
    environment: process.env,
    passedVariables: [],
    stateDir: join(dir, 'state'),
    allowDetach: false,
  };
});
afterEach(() => removeFolder(dir));

function request(params: unknown, id: unknown = 1, method = 'session.open'): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

test('it is what the server answers, and the session is there under the id that was told', async () => {
  const asked = [
    {},
    { client_name: 'c', workspace_roots: [join(dir, 'sub')] },
    { limits: { max_output_bytes: 7, hard_timeout_ms: 10 }, requested_capabilities: ['fs'] },
  ];
  for (const params of asked) {
    const early = answerFirst(Buffer.from(request(params)), { facts });
    expect(early).toBeDefined();
    const { session_id, ...told } = (JSON.parse(early?.line ?? '') as { result: Record<string, unknown> })
      .result;
    const server = new RexdServer({ facts, log: silent });
    const [near, far] = linkedPair();
    const served = server.serve(near, early?.opened);
    const client = new RpcPeer(far);
    const { session_id: other, ...answered } = (await client.request('session.open', params)) as Record<
      string,
      unknown
    >;
    expect(told).toEqual(answered);
    expect(other).not.toBe(session_id);
    expect(await client.request('session.info', { session_id })).toMatchObject({ limits: told['limits'] });
    await client.close();
    await served;
    await server.close();
  }
});

test('the id comes back as it was written, and what came behind the request is kept', () => {
  const line = '{"jsonrpc":"2.0", "method":"session.open", "id":1.0}\r\n{"next';
  const early = answerFirst(Buffer.from(line), { facts });
  expect(early?.line.startsWith('{"jsonrpc":"2.0","id":1.0,"result":')).toBe(true);
  expect(early?.line.endsWith('\n')).toBe(true);
  expect(early?.rest.toString()).toBe('{"next');
});

test('all else is left to the server', () => {
  const others = [
    '',
    request({}).trimEnd(),
    '\n',
    'no json\n',
    request({}, 1, 'session.info'),
    `[${request({}).trimEnd()}]\n`,
    '{"jsonrpc":"2.0","method":"session.open"}\n',
    request({ client_name: 7 }),
    request({ client_name: 'ä' }),
    request({ resumable: true }),
    request({ compression: { algorithms: [] } }),
    request({ workspace_roots: ['/'.padEnd(20, 'x')] }),
    request({ requested_capabilities: ['flying'] }),
    request({ of_tomorrow: 'x'.repeat(MAX_PLAIN_LINE_BYTES) }),
  ];
  for (const text of others)
    expect([text, answerFirst(Buffer.from(text), { facts })]).toEqual([text, undefined]);
  const audit = {} as AuditLog;
  expect(answerFirst(Buffer.from(request({})), { facts, audit })).toBeUndefined();
});
