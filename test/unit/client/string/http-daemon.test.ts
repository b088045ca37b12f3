// Questions to a daemon and its answers: caps, deadlines, and errors in words.

import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { PING_TIMEOUT_MS, StringClient } from '../../../../src/client/string/browser.js';
import { ASK_TIMEOUT_MS, MAX_ANSWER_BYTES } from '../../../../src/client/string/http-daemon.js';
import { readConfig } from '../../../../src/string/config.js';
import { fetchFailed, scriptedFetch, stream, untilAborted, withFakeTimers } from './scripted-fetch.js';

test('the port is the one that the daemon has when nobody says otherwise', () => {
  expect(new StringClient().url).toBe(`http://127.0.0.1:${readConfig({ HOME: '/home/alice' }).port}`);
  expect(new StringClient({ url: 'http://localhost:1/' }).url).toBe('http://localhost:1');
});

test('a ping says whether a stringd is there, and never rejects', async () => {
  const answers = [
    () => Response.json({ ok: true, agents: 0, sessions: 0 }),
    () => new Response('<html>', { status: 200 }),
    () => Response.json({ error: 'no' }, { status: 500 }),
    () => Promise.reject(fetchFailed('ECONNREFUSED')),
  ];
  const client = new StringClient({ fetch: scriptedFetch(() => answers.shift()?.()) });
  expect([await client.ping(), await client.ping(), await client.ping(), await client.ping()]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test(
  'nobody is waited for without end',
  withFakeTimers(async () => {
    const client = new StringClient({ fetch: scriptedFetch(({ signal }) => untilAborted(signal)) });
    const ping = client.ping();
    await vi.advanceTimersByTimeAsync(PING_TIMEOUT_MS);
    expect(await ping).toBe(false);
    const list = client.listAgents().catch((thrown: unknown) => thrown);
    await vi.advanceTimersByTimeAsync(ASK_TIMEOUT_MS);
    expect(await list).toMatchObject({ name: 'TimeoutError' });
  }),
);

test('an answer that does not end is not kept', async () => {
  const piece = new Uint8Array(MAX_ANSWER_BYTES / 2 + 1);
  const client = new StringClient({ fetch: scriptedFetch(() => stream([piece, piece])) });
  await expect(client.listAgents()).rejects.toMatchObject({
    code: 'NOT_STRINGD',
    message: expect.stringContaining(`more than ${MAX_ANSWER_BYTES} bytes`),
  });
});

test('errors of the daemon come with their status, code and words', async () => {
  const answers = [
    Response.json({ error: 'TOO_MANY_TOPICS', message: 'Close some.' }, { status: 429 }),
    new Response('gateway', { status: 502 }),
    new Response('no json', { status: 200 }),
  ];
  const client = new StringClient({
    fetch: scriptedFetch(({ path }) => (path.startsWith('/sessions') ? answers.shift() : undefined)),
  });
  await expect(client.openSession('x')).rejects.toMatchObject({
    status: 429,
    code: 'TOO_MANY_TOPICS',
    message: 'Close some.',
  });
  await expect(client.listSessions()).rejects.toMatchObject({
    code: 'NOT_STRINGD',
    message: expect.stringContaining('status 502 without a word of JSON'),
  });
  await expect(client.listSessions()).rejects.toMatchObject({ code: 'NOT_STRINGD' });
});

test('another program that is in good health is given no commands', async () => {
  const said = [{ ok: true }, { ok: true, agents: '1', sessions: 0 }, null, 'ok'];
  for (const words of said) {
    const fetch = scriptedFetch(() => Response.json(words));
    const client = new StringClient({ fetch });
    expect(await client.ping()).toBe(false);
    await expect(client.exec('notes', '/info')).rejects.toMatchObject({ code: 'NOT_STRINGD' });
    expect(fetch.asked.map(({ path }) => path)).not.toContain('/exec');
  }
});

test('names go into addresses whole', async () => {
  const fetch = scriptedFetch(() =>
    Response.json({ deleted: true, cancelled: false, agents: [], sessions: [] }),
  );
  const client = new StringClient({ fetch, agentId: 'a b/c' });
  await client.deleteAgent('x/../y');
  await client.closeSession('app:x:y');
  await client.cancel('?');
  await client.listSessions();
  expect(fetch.asked.map(({ path }) => path)).toEqual([
    '/agents/x%2F..%2Fy',
    '/sessions/a%20b%2Fc/app%3Ax%3Ay',
    '/exec/%3F',
    '/sessions?agent_id=a%20b%2Fc',
  ]);
});

test('no redirect is followed: what we send is for nobody else', async () => {
  const server = createServer((_, res) => res.writeHead(302, { Location: 'http://127.0.0.1:9/' }).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const client = new StringClient({ port: (server.address() as AddressInfo).port });
    await expect(client.listAgents()).rejects.toMatchObject({ code: 'UNREACHABLE' });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe('a daemon that has gone is noticed by', () => {
  const questions: Readonly<Record<string, (client: StringClient) => Promise<unknown>>> = {
    chanflow: (client) => client.chanflow('text'),
    openSession: (client) => client.openSession('main'),
    ackEvent: (client) => client.ackEvent('e'),
    countEvents: (client) => client.countEvents(),
    webhookUrl: (client) => client.webhookUrl(),
  };
  const lost = (code: string, syscall: string): TypeError =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code, syscall }) });

  test.each(Object.entries(questions))('%s, which asks twice only what was not sent', async (_, ask) => {
    const answers = [
      () => Promise.reject(fetchFailed('ECONNREFUSED')),
      () => Response.json({}),
      () => Promise.reject(fetchFailed('ECONNRESET')),
      () => Response.json({}),
      () => Promise.reject(lost('EHOSTUNREACH', 'read')),
      () => Promise.reject(lost('ECONNREFUSED', 'connect')),
      () => Promise.reject(lost('ECONNREFUSED', 'connect')),
    ];
    const fetch = scriptedFetch(({ path }) =>
      path === '/health' || path === '/agents' ? undefined : answers.shift()?.(),
    );
    const client = new StringClient({ fetch });
    const steps = async (): Promise<string> => {
      fetch.asked.length = 0;
      const end = await ask(client).then(
        () => '',
        ({ code }: { code?: string }) => ` ${code}`,
      );
      const letters = fetch.asked.map(({ path }) =>
        path === '/health' ? 'h' : path === '/agents' ? 'a' : '?',
      );
      return letters.join('') + end;
    };
    expect(await steps()).toBe('ha?ha?');
    expect(await steps()).toBe('? UNREACHABLE'); // it may have arrived
    expect(await steps()).toBe('ha?');
    expect(await steps()).toBe('? UNREACHABLE'); // so may this
    expect(await steps()).toBe('ha?ha? UNREACHABLE');
    expect(answers).toEqual([]);
  });
});
