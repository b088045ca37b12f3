// The trust model by the built daemon, with names and a public address that are played by this machine.

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { until } from '../../helpers/wait.js';
import { shareStringd } from '../kit/stringd-under-test.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

const PLAY = fileURLToPath(new URL('../../fixtures/string/play-internet.mjs', import.meta.url));
const NAMES = { 'page.test': '93.184.216.34', 'away.test': '93.184.216.34', 'inside.test': '127.0.0.1' };

const pages = new Map<string, string>();
const seen: string[] = [];
/** One server that is everybody: `pages` by their paths; `/to-X` leads to X. */
const server = createServer((request, response) => {
  seen.push(`${request.headers.host?.split(':')[0]} ${request.url}`);
  const to = /^\/to-(.*)$/u.exec(request.url ?? '')?.[1];
  if (to !== undefined) response.writeHead(302, { location: decodeURIComponent(to) }).end();
  else
    response
      .writeHead(200, { 'content-type': 'text/markdown' })
      .end(pages.get(request.url ?? '') ?? 'secret');
});
const shared = shareStringd({
  env: { NODE_OPTIONS: `--import ${PLAY}`, PLAYED_NAMES: JSON.stringify(NAMES) },
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  seen.length = 0;
  pages.clear();
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const portOf = (): number => (server.address() as AddressInfo).port;
const fence = (id: string, ...lines: string[]): string => ['```act.' + id, ...lines, '```', ''].join('\n');

async function run(cmd: string, topic = 'main'): Promise<{ code: string | null; text: string }> {
  const { events } = await shared().exec(topic, cmd);
  const [head, content] = events.map(({ data }) => data) as [{ code: string | null }, string];
  return { code: head.code, text: content };
}

verifies('string/policy/rebinding', async (_, skip) => {
  skipForeign(skip);
  const port = portOf();
  pages.set(
    '/inside.md',
    `[@other Other](/other.md) [@ip Ip](http://127.0.0.1:${port}/x)\n${fence('own', 'GET /own')}`,
  );
  pages.set(
    '/page.md',
    `[@in In](http://inside.test:${port}/x)\n[!include:x](http://inside.test:${port}/x)\n[!nav:m](http://inside.test:${port}/x)\n`,
  );
  // Whoever typed the name wanted it, wherever it leads; the page it gave is a stranger's all the same.
  expect(await run(`/open http://inside.test:${port}/inside.md`)).toMatchObject({ code: null });
  for (const cmd of ['/act.own', '/open @other', '/open @ip'])
    expect([cmd, (await run(cmd)).code]).toEqual([cmd, 'POLICY_DENIED']);
  expect(seen).toEqual(['inside.test /inside.md']);
  expect((await run(`/open http://page.test:${port}/page.md`)).text).toContain('Include failed');
  expect(await run('/open @in')).toMatchObject({ code: 'POLICY_DENIED' });
  expect(seen.slice(1)).toEqual(['page.test /page.md']);
});

verifies('string/policy/redirect', async (_, skip) => {
  skipForeign(skip);
  const port = portOf();
  const inside = [`http://127.0.0.1:${port}/x`, `http://inside.test:${port}/x`, 'file:///etc/passwd'];
  const ways = inside.map((each) => `/to-${encodeURIComponent(each)}`);
  pages.set(
    '/page.md',
    ways.map((way, n) => fence(`a${n}`, `GET ${way}`)).join('') +
      ways.map((way, n) => `[@l${n} Link ${n}](http://away.test:${port}${way})\n`).join(''),
  );
  await run(`/open http://page.test:${port}/page.md`);
  for (const cmd of ['/act.a0', '/act.a1', '/act.a2', '/open @l0', '/open @l1', '/open @l2'])
    expect([cmd, (await run(cmd)).code]).toEqual([cmd, 'POLICY_DENIED']);
  const typed = `http://page.test:${port}/to-${encodeURIComponent(`http://127.0.0.1:${port}/x`)}`;
  for (const cmd of [`/open ${typed}`, `/install ${typed} --app`])
    expect([cmd, (await run(cmd)).code]).toEqual([cmd, 'POLICY_DENIED']);
  expect(seen.filter((each) => each.endsWith(' /x'))).toEqual([]);
});

verifies('string/policy/public', async (_, skip) => {
  skipForeign(skip);
  const port = portOf();
  pages.set(
    '/page.md',
    `---\ndefault: own\n---\n${fence('own', 'GET /own')}${fence('away', `GET http://away.test:${port}/x`)}`,
  );
  await run(`/open http://page.test:${port}/page.md`);
  expect(seen).toEqual(['page.test /page.md']);
  expect(await run('/act.own')).toMatchObject({ code: null });
  expect(await run('/act.away')).toMatchObject({ code: 'POLICY_DENIED' });
  expect(seen).toEqual(['page.test /page.md', 'page.test /own']);
});

verifies(['string/policy/file', 'string/policy/log'], async (_, skip) => {
  skipForeign(skip);
  const port = portOf();
  const stringd = shared();
  pages.set('/page.md', fence('run', 'CLI touch ran'));
  const data = join(stringd.base, 'string/daemon');
  mkdirSync(join(data, 'policies/me'), { recursive: true });
  const file = join(data, 'policies/me/policy.json');
  writeFileSync(
    file,
    JSON.stringify({ shell: false, local: { commands: false }, remote: { commands: true } }),
  );
  writeFileSync(join(stringd.home, 'own.md'), fence('run', 'CLI touch ran'));
  await run('/open own.md');
  for (const cmd of ['/act.run', '/exec touch ran'])
    expect([cmd, (await run(cmd)).code]).toEqual([cmd, 'POLICY_DENIED']);
  for (const cmd of ['touch ran', '//open bash:off', '//send touch ran'])
    expect([cmd, (await run(cmd, 'bash:off')).code]).toEqual([cmd, 'POLICY_DENIED']);
  expect((await run('//open bash:off')).code).toBe('POLICY_DENIED');
  await run(`/open http://page.test:${port}/page.md`);
  expect(await run('/act.run')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
  expect(existsSync(join(stringd.home, 'ran'))).toBe(false);
  writeFileSync(file, '{}');
  expect(await run('/exec true')).toMatchObject({ code: null });
  const log = join(data, 'policy.jsonl');
  const lines = (): string[] => readFileSync(log, 'utf8').split('\n').slice(0, -1);
  const last = await until(
    () => lines().findIndex((line) => line.includes('policy.shell')) + 1 || false,
    'its line',
  );
  const decisions = lines()
    .slice(last - 4, last)
    .map((line) => JSON.parse(line) as { method: string; client_name: string; result: { allowed: boolean } })
    .map(({ method, client_name: agent, result }) => [method, agent, result.allowed]);
  expect(decisions).toEqual([
    ['policy.refused', 'me', false],
    ['policy.refused', 'me', false],
    ['policy.refused', 'me', false],
    ['policy.shell', 'me', true],
  ]);
  expect(statSync(log).mode & 0o777).toBe(0o600);
});
