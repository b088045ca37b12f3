import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findHomes, MAX_ADOPTED_HOMES } from '../../../../src/string/agents/adopt-homes.js';
import { isAgentId, MAX_AGENT_ID_CHARS } from '../../../../src/string/agents/agent-id.js';
import { MAX_ALLOWED_PATHS, MAX_PATH_BYTES } from '../../../../src/string/agents/agent-record.js';
import { AgentStore, MAX_AGENTS, MAX_REMOVED_IDS } from '../../../../src/string/agents/agent-store.js';
import { writeCurrentAgent } from '../../../../src/string/agents/current-agent.js';
import { MAX_TOKEN_CHARS, newWebhookToken, TokenIndex } from '../../../../src/string/agents/webhook-token.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let folder: string;
let file: string;
let homesDir: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agents-'));
  file = join(folder, 'data/agents.json');
  homesDir = join(folder, 'homes');
});
afterEach(() => removeFolder(folder));

const open = (adoptHomes = true): Promise<AgentStore> => AgentStore.open({ file, homesDir, adoptHomes });
const written = (): { agents: Record<string, unknown>[]; removed: string[] } =>
  JSON.parse(readFileSync(file, 'utf8')) as never;

test('an agent without a home gets one of its own, private, and is there after a restart', async () => {
  const { agent, created } = await (await open()).register({ id: 'default' });
  expect({ ...agent, created }).toMatchObject({
    id: 'default',
    home: join(homesDir, 'default'),
    allowedPaths: [],
    created: true,
  });
  expect(statSync(agent.home).mode & 0o777).toBe(0o700);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await open()).get('default')).toEqual(agent);
});

test('registering again changes only what is given, and keeps createdAt and the token', async () => {
  const agents = await open();
  const first = (await agents.register({ id: 'a', home: join(folder, 'here'), allowedPaths: ['/tmp'] }))
    .agent;
  const token = await agents.webhookToken('a');
  expect(await agents.register({ id: 'a' })).toMatchObject({
    created: false,
    agent: { home: first.home, createdAt: first.createdAt },
  });
  const { agent } = await agents.register({ id: 'a', home: join(folder, 'there') });
  expect(agent).toEqual({ ...first, home: join(folder, 'there'), webhookToken: token });
});

test('registering what is known already does not touch the file', async () => {
  const agents = await open();
  await agents.register({ id: 'a' });
  const before = statSync(file).ino;
  for (let i = 0; i < 10; i++) await agents.register({ id: 'a' });
  expect(statSync(file).ino).toBe(before);
});

test('homes without a record are adopted, except those of deleted agents', async () => {
  for (const name of ['old', 'other', '.hidden', 'no way'])
    mkdirSync(join(homesDir, name), { recursive: true });
  const agents = await open();
  expect(agents.list().map(({ id }) => id)).toEqual(['old', 'other']);
  expect(await agents.remove('old')).toBe(true);
  expect((await open()).list().map(({ id }) => id)).toEqual(['other']);
  await (await open()).register({ id: 'old' });
  expect(written().removed).toEqual([]);
  rmSync(file);
  expect((await open(false)).size).toBe(0);
  expect(findHomes(homesDir).length).toBeLessThan(MAX_ADOPTED_HOMES);
  expect(findHomes(join(folder, 'nowhere'))).toEqual([]);
});

test('deleting keeps the home, and says whether there was an agent', async () => {
  const agents = await open();
  const { home } = (await agents.register({ id: 'a' })).agent;
  expect([await agents.remove('a'), await agents.remove('a')]).toEqual([true, false]);
  expect(statSync(home).isDirectory()).toBe(true);
});

test('a token is made once, found again, and worthless after rotation, deletion and in another agent', async () => {
  const agents = await open();
  await agents.register({ id: 'a' });
  const [one, same] = await Promise.all([agents.webhookToken('a'), agents.webhookToken('a')]);
  expect(one).toMatch(/^wh_[\w-]{32}$/);
  expect(same).toBe(one);
  expect(agents.agentOfToken(one ?? '')).toBe('a');
  const next = (await agents.rotateToken('a')) ?? '';
  expect(agents.agentOfToken(one ?? '')).toBeUndefined();
  expect((await open()).agentOfToken(next)).toBe('a');
  await agents.remove('a');
  expect(agents.agentOfToken(next)).toBeUndefined();
  expect(await agents.webhookToken('nobody')).toBeUndefined();
});

test('tokens are compared as a whole, and a very long one is not looked at', () => {
  const index = new TokenIndex();
  const token = newWebhookToken();
  index.set(token, 'a');
  expect([token, token.slice(0, -1), `${token}x`, ''].map((each) => index.find(each))).toEqual([
    'a',
    undefined,
    undefined,
    undefined,
  ]);
  index.set('x'.repeat(MAX_TOKEN_CHARS + 1), 'b');
  expect(index.find('x'.repeat(MAX_TOKEN_CHARS + 1))).toBeUndefined();
});

test('no id leads out of the folder of homes', () => {
  for (const id of ['', '.', '..', 'a/b', 'a b', '../x', 'x\n', 'x'.repeat(MAX_AGENT_ID_CHARS + 1), 'é'])
    expect(isAgentId(id), id).toBe(false);
  for (const id of ['a', 'A.b-c_1', '...', 'x'.repeat(MAX_AGENT_ID_CHARS)])
    expect(isAgentId(id), id).toBe(true);
  fc.assert(
    fc.property(fc.string(), (id) => {
      fc.pre(isAgentId(id));
      expect(join('/homes', id)).toBe(`/homes/${id}`);
    }),
  );
});

test('what cannot be registered is refused in words, and nothing is written', async () => {
  const agents = await open();
  const refused = async (given: Parameters<AgentStore['register']>[0], words: string): Promise<void> =>
    expect(agents.register(given)).rejects.toThrow(words);
  await refused({ id: '../x' }, 'Invalid agent_id');
  await refused({ id: 'a', home: 'relative' }, 'home: expected an absolute path');
  await refused({ id: 'a', allowedPaths: ['relative'] }, 'allowed_paths: expected an absolute path');
  await refused({ id: 'a', home: '/dev/null/x' }, 'home cannot be used: ENOTDIR');
  await refused({ id: 'a', home: '/dev/null' }, 'home cannot be used: it is no folder');
  await refused({ id: 'a', home: `/${'x'.repeat(MAX_PATH_BYTES)}` }, 'absolute path');
  await refused(
    { id: 'a', allowedPaths: Array.from({ length: MAX_ALLOWED_PATHS + 1 }, () => '/x') },
    'at most',
  );
  expect(agents.size).toBe(0);
});

test('there is an end to agents, and to the memory of deleted ones', async () => {
  const agents = Array.from({ length: MAX_AGENTS }, (_, i) => ({
    id: `a${i}`,
    home: '/x',
    allowedPaths: [],
    createdAt: 'then',
  }));
  const removed = Array.from({ length: MAX_REMOVED_IDS }, (_, i) => `gone${i}`);
  mkdirSync(join(folder, 'data'));
  writeFileSync(file, JSON.stringify({ agents, removed }));
  const store = await open();
  await expect(store.register({ id: 'one-more' })).rejects.toThrow(`${MAX_AGENTS} agents`);
  await store.remove('a0');
  expect(written().removed).toHaveLength(MAX_REMOVED_IDS);
  expect(written().removed.at(-1)).toBe('a0');
});

test('a file that is damaged is left as it is, and named', async () => {
  mkdirSync(join(folder, 'data'));
  writeFileSync(file, '{"agents": [');
  await expect(open()).rejects.toThrow(/agents\.json, line 1/);
  expect(readFileSync(file, 'utf8')).toBe('{"agents": [');
});

test('the current agent is written beside whatever else is in the file', async () => {
  const config = join(folder, 'config.json');
  writeFileSync(config, '{"theme":"dark"}');
  await writeCurrentAgent(config, 'a');
  expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({ theme: 'dark', currentAgent: 'a' });
});
