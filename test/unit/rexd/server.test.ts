import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Log } from '../../../src/base/log.js';
import { Roots } from '../../../src/guard/roots.js';
import { loadConfig } from '../../../src/rexd/config.js';
import type { ServerFacts } from '../../../src/rexd/context.js';
import { LAST_ANSWERS_MS, LAST_EVENTS_MS, RexdServer } from '../../../src/rexd/server.js';
import { RpcPeer } from '../../../src/wire/jsonrpc/peer.js';
import { linkedPair } from '../../../src/wire/transport/memory.js';
import { removeFolder } from '../../helpers/remove-folder.js';

/** What a busy machine may add. */
const SLACK_MS = 60_000;

const silent = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Log;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rexd-server-'));
});
afterEach(() => removeFolder(dir));

/** A server with one client, which has stopped reading amid a flood. */
async function startDeafClient() {
  const config = await loadConfig(undefined, { XDG_CONFIG_HOME: dir });
  const facts: ServerFacts = {
    roots: Roots.open([dir]),
    limits: config.limits,
    reportVersion: '0',
    capabilities: ['exec'],
    policy: config.policy,
    environment: process.env,
    passedVariables: [],
    stateDir: join(dir, 'state'),
    allowDetach: false,
  };
  const server = new RexdServer({ facts, log: silent });
  const [near, far] = linkedPair();
  const served = server.serve(near);
  const client = new RpcPeer(far);
  const { session_id } = (await client.request('session.open', { client_name: 't' })) as {
    session_id: string;
  };
  const { pid } = (await client.request('exec.start', { session_id, argv: ['yes'] })) as { pid: number };
  far.input.pause();
  return { server, served, client, far, pid };
}

test('a server that is told to end waits for a deaf client only so long', async () => {
  const { server, served, client, far } = await startDeafClient();
  const fromMs = performance.now();
  await server.close();
  await served;
  expect(performance.now() - fromMs).toBeLessThan(LAST_EVENTS_MS + SLACK_MS);
  far.input.resume();
  await client.close();
});

test('a client that sends and reads nothing more is waited for only so long', async () => {
  const { served, client, far } = await startDeafClient();
  const fromMs = performance.now();
  far.output.end();
  await served;
  expect(performance.now() - fromMs).toBeLessThan(2 * LAST_ANSWERS_MS + SLACK_MS);
  far.input.resume();
  await client.close();
});
