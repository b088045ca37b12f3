// What both seeds say about agents, topics and surfaces, sentence by sentence.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { readConfig } from '../../../src/string/config.js';
import { freePort } from '../../helpers/free-port.js';
import { until } from '../../helpers/wait.js';
import { string, turn } from '../kit/string-cli.js';
import { makeBase, ME, shareStringd, StringdUnderTest } from '../kit/stringd-under-test.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const shared = shareStringd();
const YOU = { 'X-Agent-Id': 'you' };

const block = (topic: string, payload: string): string => `<𝒞=string:${topic}>\n${payload}\n</𝒞>\n`;
const bodyOf = (text: string): string => /^<𝒞=[^\n]*>\n(.*)\n<\/𝒞>\n?$/su.exec(text)?.[1] ?? text;

interface Row {
  readonly agent_id: string;
  readonly topic: string;
  readonly executing: boolean;
  readonly queue_length: number;
  readonly doc: unknown;
}

async function sessions(query = ''): Promise<Row[]> {
  return ((await shared().ask(`/sessions${query}`)).json as { sessions: Row[] }).sessions;
}

async function closeShell(): Promise<void> {
  await shared().ask('/sessions/me/bash:dev', { method: 'DELETE' });
}

verifies('string/seed/default-port', async (_, skip) => {
  skipForeign(skip); // the port itself may be somebody's
  expect([readConfig({}).port, readConfig({ STRING_PORT: ' ' }).port]).toEqual([3923, 3923]);
  expect(readConfig({ STRING_PORT: '4000' }).port).toBe(4000);
});

verifies('string/seed/data-dir', async () => {
  const base = makeBase();
  try {
    const daemon = new StringdUnderTest(await freePort(), {
      base,
      env: { STRING_ROOT: '', STRING_DATA_DIR: '' },
    });
    await using stringd = daemon;
    await stringd.ready();
    const { json } = await stringd.ask('/agents', { json: { agent_id: 'me' } });
    expect(json['home']).toBe(join(base, '.string/agents/me'));
    expect(existsSync(join(base, '.string/daemon/agents.json'))).toBe(true);
  } finally {
    removeFolder(base);
  }
});

verifies(['string/seed/identity', 'string/seed/own-topics', 'string/seed/sessions-counted'], async () => {
  const stringd = shared();
  await stringd.ask('/agents', { json: { agent_id: 'you' } });
  const as = async (headers: Record<string, string>, cmd: string): Promise<string> => {
    const { events } = await stringd.ask('/exec', { headers, json: { topic: 'main', cmd } });
    expect(events[0]?.data).toMatchObject({ agent_id: headers['X-Agent-Id'] });
    return String(events[1]?.data);
  };
  await as(ME, '/set {who} = "me"');
  await as(YOU, '/set {who} = "you"');
  expect([await as(ME, '/set'), await as(YOU, '/set')]).toEqual([
    expect.stringContaining('{who} = "me"'),
    expect.stringContaining('{who} = "you"'),
  ]);
  expect((await sessions()).map(({ agent_id, topic }) => `${agent_id}:${topic}`).sort()).toEqual([
    'me:main',
    'you:main',
  ]);
  expect((await stringd.ask('/health')).json).toMatchObject({ ok: true, agents: 2, sessions: 2 });
});

verifies('string/seed/bash', async () => {
  const { events } = await shared().exec('main', '/exec [[ ab == a* ]] && echo "$BASH, $-"');
  expect(String(events[1]?.data)).toMatch(/\n---\n\/bin\/bash, \w*c\w*$/); // `c`: the command came by -c
});

verifies('string/seed/hubs', async () => {
  for (const hub of ['app', 'bash', 'tool', 'event', 'system', 'agent'])
    expect((await shared().exec(hub, '/info')).events[0]?.data).toMatchObject({
      ok: true,
      topic: hub,
      topic_type: 'hub',
    });
  expect((await shared().exec('bash:dev', '//info')).events[0]?.data).toMatchObject({
    topic: 'bash:dev',
    topic_type: 'bash',
  });
});

verifies('string/seed/content-type', async () => {
  const stringd = shared();
  for (const path of ['/exec', '/agents', '/sessions', '/mcp']) {
    const headers = { ...ME, 'Content-Type': 'text/plain' };
    const { status, json } = await stringd.ask(path, { headers, body: '{"cmd":"/info","agent_id":"x"}' });
    expect([path, status, json]).toEqual([path, 415, { error: expect.stringContaining('application/json') }]);
  }
  for (const type of ['text/plain', 'text/markdown; charset=utf-8', 'application/json'])
    expect(
      (await stringd.ask(await stringd.webhook(), { headers: { 'Content-Type': type }, body: 'x' })).status,
    ).toBe(202);
});

verifies('string/seed/inbox', async () => {
  const stringd = shared();
  const id = String((await stringd.post('first line\nsecond')).json['event_id']);
  const run = async (topic: string, cmd: string): Promise<string> =>
    String((await stringd.exec(topic, cmd)).events[1]?.data);
  for (const topic of ['event', 'main']) {
    expect(await run(topic, '/events')).toMatch(new RegExp(`${id} +pending .*first line`));
    expect(await run(topic, `/events.read ${id}`)).toContain('\nfirst line\nsecond\n');
  }
  expect(await run('event', `/events.ack ${id}`)).toBe(`re: /events.ack ${id}\nAcked ${id}`);
  expect(await run('event', '/events')).not.toContain(id);
  expect(await run('event', '/events list --all')).toMatch(new RegExp(`${id} +ack `));
  expect((await stringd.exec('event', '/events.read evt_a_b')).events[0]?.data).toMatchObject({
    code: 'NOT_FOUND',
  });
});

verifies('string/seed/meta', async () => {
  const stringd = shared();
  const file = join(stringd.home, 'index.md');
  writeFileSync(file, '---\ntitle: Home\n---\n# Hello\n');
  const doc = { uri: pathToFileURL(file).href, title: 'Home', current_block: null };
  const { events } = await stringd.exec('main', '/open ./index.md');
  expect(events[0]?.data).toMatchObject({ ok: true, meta: doc });
  expect((await stringd.exec('main', '/info')).events[0]?.data).toMatchObject({ meta: doc });
  expect(await sessions()).toMatchObject([{ topic: 'main', doc }]);
});

verifies('string/seed/executing', async () => {
  const stringd = shared();
  const gate = join(stringd.base, 'gate');
  const running = [stringd.exec('main', `/exec while [ ! -e ${gate} ]; do sleep 0.02; done`)];
  await until(async () => (await sessions())[0]?.executing === true, 'the first to run');
  running.push(stringd.exec('main', '/info'));
  await until(async () => (await sessions())[0]?.queue_length === 1, 'the second to wait');
  writeFileSync(gate, '');
  await Promise.all(running);
  expect(await sessions()).toMatchObject([{ topic: 'main', executing: false, queue_length: 0 }]);
});

verifies('string/seed/mcp-methods', async () => {
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await shared().ask('/mcp', {
      method,
      headers: { Accept: 'text/event-stream' },
    });
    expect([status, headers['allow']]).toEqual([405, expect.stringContaining('POST')]);
  }
});

verifies('string/seed/mcp-plain', async () => {
  const params = { name: 'string', arguments: { topic: 'main', cmd: '/set' } };
  const { json } = await shared().ask('/mcp', {
    headers: ME,
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  });
  expect(json['result']).toEqual({
    content: [{ type: 'text', text: '<𝒞=string:main>\nNo variables set.\n</𝒞>' }],
    isError: false,
  });
});

verifies('string/seed/same-answer', async () => {
  const stringd = shared();
  for (const [topic, cmd] of [
    ['notes', '/set'],
    ['event', '/help'],
    ['app:weather:korea', '/info'],
    ['bash:dev', 'echo out; false'],
  ] as const) {
    const { events } = await stringd.exec(topic, cmd);
    const plain = String(events[1]?.data).replace(/^re: .*\n/u, '');
    expect(bodyOf((await stringd.callTool({ topic, cmd })).text)).toBe(plain);
    expect(bodyOf((await string(stringd, [topic, cmd])).stdout)).toBe(plain);
    const failed = /^ERROR\((\w+)\): /u;
    expect(bodyOf(await turn('http', stringd, block(topic, cmd))).replaceAll('\n  ', '\n')).toBe(
      plain.replace(failed, '✗ $1: ').replaceAll('\n  ', '\n'),
    );
  }
  await closeShell();
});

verifies(['string/seed/typed-topics', 'string/seed/closed'], async (transport) => {
  const stringd = shared();
  const topics = ['file:main', 'file:docs', 'web:docs', 'app:gmail:work', 'bash:dev'];
  const command = (topic: string, cmd: string): string => (topic.startsWith('bash:') ? `/${cmd}` : cmd);
  const open = topics.map((topic) => block(topic, command(topic, `/set {a} = "${topic}"`)));
  const answered = await turn(transport, stringd, open.join('\n'));
  expect([...answered.matchAll(/^<𝒞=string:(\S+)/gmu)].map(([, topic]) => topic)).toEqual(topics);
  for (const topic of topics) expect(answered).toContain(`✓ {a} = "${topic}"`);
  expect(await sessions('?agent_id=me')).toHaveLength(topics.length);
  const closed = topics.map((topic) => block(topic, command(topic, '/close'))).join('');
  expect((await turn(transport, stringd, closed)).match(/^✓ /gmu)).toHaveLength(topics.length);
  expect(await sessions('?agent_id=me')).toEqual([]);
});

verifies('string/seed/shell-lines', async (transport) => {
  const text = await turn(transport, shared(), block('bash:dev', 'x=1\n/bin/echo "x is $x"\n/info'));
  expect(text).toContain('\nx is 1\n');
  expect(text).toContain('✗ EXIT_127');
  expect(text).toMatch(/\/info: No such file/u);
  await closeShell();
});
