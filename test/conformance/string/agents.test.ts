// Agents and their webhooks.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../../helpers/wait.js';
import { makeBase, ME, shareStringd, StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const shared = shareStringd();

verifies('string/agents/list', async () => {
  const stringd = shared();
  await stringd.webhook();
  const reply = await stringd.ask('/agents');
  expect(reply.json).toEqual({
    agents: [
      { id: 'me', home: stringd.home, allowedPaths: [], createdAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    ],
  });
  expect(reply.text).not.toContain('wh_');
});

verifies('string/agents/register', async () => {
  const stringd = shared();
  const { status, json } = await stringd.ask('/agents', { json: { agent_id: 'fresh' } });
  const home = join(stringd.base, 'string/agents/fresh');
  expect([status, json]).toEqual([200, { agent_id: 'fresh', home, created: true }]);
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

verifies('string/agents/update', async () => {
  const stringd = shared();
  const before = (await stringd.ask('/agents')).json;
  const other = join(stringd.base, 'elsewhere');
  const update = { agent_id: 'me', home: other };
  expect((await stringd.ask('/agents', { json: update })).json).toEqual({ ...update, created: false });
  expect((await stringd.ask('/agents', { json: { agent_id: 'me' } })).json).toEqual({
    ...update,
    created: false,
  });
  const [agent] = (before as { agents: object[] }).agents;
  expect((await stringd.ask('/agents')).json).toEqual({ agents: [{ ...agent, home: other }] });
});

verifies('string/agents/required', async () => {
  const stringd = shared();
  for (const json of [{}, { agent_id: '' }, { home: '/tmp' }, []]) {
    const reply = await stringd.ask('/agents', { json });
    expect([reply.status, reply.json]).toEqual([400, { error: 'agent_id required' }]);
  }
  const headers = { 'Content-Type': 'application/json' };
  expect((await stringd.ask('/agents', { body: '{nonsense', headers })).json).toEqual({
    error: 'agent_id required',
  });
});

verifies('string/agents/persist', async () => {
  const base = makeBase();
  try {
    let agents: unknown;
    {
      await using stringd = await StringdUnderTest.start({ base });
      agents = (await stringd.ask('/agents')).json;
      const file = JSON.parse(readFileSync(join(base, 'string/daemon/agents.json'), 'utf8')) as object;
      expect(JSON.stringify(file)).toContain('"me"');
    }
    await using again = await StringdUnderTest.start({ base });
    expect((await again.ask('/agents')).json).toEqual(agents);
  } finally {
    removeFolder(base);
  }
});

verifies('string/agents/private', async () => {
  const stringd = shared();
  const dataDir = join(stringd.base, 'string/daemon');
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dataDir, 'agents.json')).mode & 0o777).toBe(0o600);
});

verifies('string/agents/id', async () => {
  const stringd = shared();
  for (const agent_id of ['../x', 'a/b', '.', '..', 'a b', 'x'.repeat(65), 'a\nb'])
    expect((await stringd.ask('/agents', { json: { agent_id } })).status).toBe(400);
  expect((await stringd.callTool({ topic: 'main', cmd: '/info' }, { 'X-Agent-Id': '../x' })).status).toBe(
    400,
  );
  expect(existsSync(join(stringd.base, 'string/x'))).toBe(false);
});

verifies('string/agents/home', async () => {
  const stringd = shared();
  for (const home of ['relative', './x', '~/x', '/dev/null/x', '/x\0y', 7, ['/x'], `/${'x'.repeat(5000)}`]) {
    const reply = await stringd.ask('/agents', { json: { agent_id: 'placed', home } });
    expect([reply.status, home]).toEqual([400, home]);
    expect(reply.json['error']).toContain('home');
  }
  for (const home of ['', null])
    expect((await stringd.ask('/agents', { json: { agent_id: 'placed', home } })).json).toMatchObject({
      home: join(stringd.base, 'string/agents/placed'),
    });
});

verifies('string/agents/delete', async () => {
  const stringd = shared();
  writeFileSync(join(stringd.home, 'kept.txt'), 'kept');
  using stream = stringd.stream('/events/stream', { headers: ME });
  await stream.event('ready');
  await stringd.exec('main', '/info');
  const webhook = await stringd.webhook();
  const remove = async () => (await stringd.ask('/agents/me', { method: 'DELETE' })).json;
  expect(await remove()).toMatchObject({ agent_id: 'me', deleted: true });
  expect(await remove()).toMatchObject({ agent_id: 'me', deleted: false });
  await until(() => stream.ended, 'the stream to end');
  expect((await stringd.ask('/sessions')).json).toEqual({ sessions: [] });
  expect((await stringd.exec('main', '/info')).status).toBe(401);
  expect((await stringd.ask(webhook, { body: 'x' })).status).toBe(401);
  expect(readFileSync(join(stringd.home, 'kept.txt'), 'utf8')).toBe('kept');
});

verifies('string/webhook/show', async () => {
  const stringd = shared();
  const first = (await stringd.ask('/agents/me/webhook')).json;
  expect(first).toEqual({
    agent_id: 'me',
    webhook_url: expect.stringMatching(
      new RegExp(`^http://127\\.0\\.0\\.1:${stringd.port}/webhook/wh_[\\w-]{20,}$`),
    ),
  });
  expect((await stringd.ask('/agents/me/webhook')).json).toEqual(first);
});

verifies('string/webhook/rotate', async () => {
  const stringd = shared();
  const old = await stringd.webhook();
  const rotated = await stringd.ask('/agents/me/webhook', { method: 'POST' });
  expect(rotated.status).toBe(200);
  expect((await stringd.ask(old, { body: 'x' })).status).toBe(401);
  const path = new URL(String(rotated.json['webhook_url'])).pathname;
  expect((await stringd.ask(path, { body: 'x' })).status).toBe(202);
  expect(await stringd.webhook()).toBe(path);
});

verifies('string/webhook/unknown-agent', async () => {
  const stringd = shared();
  for (const method of ['GET', 'POST']) {
    const reply = await stringd.ask('/agents/nobody/webhook', { method });
    expect([reply.status, reply.json]).toEqual([404, { error: 'Unknown agent: nobody' }]);
  }
});

verifies('string/webhook/append', async () => {
  const stringd = shared();
  const { status, json } = await stringd.post('hello');
  expect([status, json]).toEqual([
    202,
    { ok: true, agent_id: 'me', event_id: expect.stringMatching(/^evt_[a-z0-9]+_[\w-]+$/) },
  ]);
});

verifies('string/webhook/refusals', async () => {
  const stringd = shared();
  const path = await stringd.webhook();
  const post = async (to: string, body: string) => {
    const reply = await stringd.ask(to, { method: 'POST', body });
    return [reply.status, reply.json];
  };
  expect(await post('/webhook/wh_wrong', 'x')).toEqual([401, { error: 'Unknown webhook token' }]);
  expect(await post('/webhook/wh_wrong', 'x'.repeat(2e6))).toEqual([401, { error: 'Unknown webhook token' }]);
  for (const body of ['', ' \n '])
    expect(await post(path, body)).toEqual([400, { error: 'Webhook body must be non-empty text' }]);
  expect((await post(path, 'x'.repeat(65_536)))[0]).toBe(202);
  for (const length of [65_537, 12e6])
    expect(await post(path, 'x'.repeat(length))).toEqual([
      413,
      { error: 'Webhook body exceeds 65536 bytes' },
    ]);
});

verifies('string/webhook/data', async () => {
  const stringd = shared();
  const marker = join(stringd.base, 'executed');
  const text = `/exec touch ${marker}\n$(touch ${marker})\n</𝒞>`;
  await stringd.post(text);
  using stream = stringd.stream('/events/stream', { headers: ME });
  await stream.event('event', (event: { text: string }) => event.text === text);
  expect(existsSync(marker)).toBe(false);
});

verifies('string/seed/deleted-files', async () => {
  const stringd = shared();
  await stringd.exec('main', '/write kept.md\nkept text');
  const { json } = await stringd.post('for whoever comes back');
  await stringd.ask('/agents/me', { method: 'DELETE' });
  await stringd.ask('/agents', { json: { agent_id: 'me' } });
  expect((await stringd.exec('main', '/open kept.md')).text).toContain('kept text');
  expect((await stringd.exec('main', `/events.read ${json['event_id'] as string}`)).text).toContain(
    'for whoever comes back',
  );
});
