// StringClient before a stringd of the test's own: the checklist for clients.

import { expect } from 'vitest';
import { StringClient } from '../../../src/client/string/string-client.js';
import { StringPlace } from '../../helpers/string-place.js';
import { until } from '../../helpers/wait.js';
import { beginEvents, ScriptedStringd, sendJson } from '../kit/scripted-stringd.js';
import { verifies } from '../kit/verifies.js';

const HEAD =
  'event: head\ndata: {"ok":true,"code":null,"cmd":"/open ./README.md","request_id":null,"agent_id":"me","topic":"main","topic_type":"tab","meta":{"uri":"file:///w/README.md","title":"README","current_block":null}}\n\n';
const CONTENT = 'event: content\ndata: "re: /open ./README.md\\n# Hello\\n\\"quoted\\"\\u0021\\n"\n\n';
const DONE = 'event: done\ndata: {}\n\n';

const clientOf = ({ port }: ScriptedStringd): StringClient =>
  new StringClient({ port, agentId: 'me', autoStart: false });

verifies(
  ['string/client/ping', 'string/client/agent', 'string/client/header', 'string/client/life'],
  async () => {
    await using stringd = await ScriptedStringd.start((res) => beginEvents(res).end(HEAD + CONTENT + DONE));
    const client = clientOf(stringd);
    for (let i = 0; i < 8; i++) expect((await client.exec('main', '/info')).ok).toBe(true);
    expect(stringd.asked.map(({ what }) => what)).toEqual([
      'GET /health',
      'POST /agents',
      ...Array.from({ length: 8 }, () => 'POST /exec'),
    ]);
    expect(JSON.parse(stringd.asked[1]?.body ?? '')).toEqual({ agent_id: 'me' });
    for (const { headers } of stringd.commands)
      expect(headers).toMatchObject({
        'x-agent-id': 'me',
        'content-type': 'application/json',
        accept: 'text/event-stream',
      });
    expect(await client.health()).toEqual({ ok: true, agents: 1, sessions: 3 });
    await client.shutdown();
    expect(stringd.asked.at(-1)?.what).toBe('POST /shutdown');
    expect(stringd.connections).toBeLessThan(4); // of twelve requests
  },
);

verifies(
  ['string/client/result', 'string/client/prefix', 'string/client/json', 'string/client/no-meta'],
  async () => {
    const heads = [
      HEAD,
      HEAD.replace(/"meta":\{.*?\}/, '"meta":null').replace(
        '"ok":true,"code":null',
        '"ok":false,"code":"NOT_FOUND"',
      ),
    ];
    await using stringd = await ScriptedStringd.start((res, nth) =>
      beginEvents(res).end((heads[nth] ?? '') + CONTENT + DONE),
    );
    const client = clientOf(stringd);
    const content = '# Hello\n"quoted"!\n';
    const meta = { uri: 'file:///w/README.md', title: 'README', current_block: null };
    expect(await client.exec('main', '/open ./README.md')).toMatchObject({
      ok: true,
      code: null,
      content,
      meta,
    });
    expect(await client.exec('main', '/open ./README.md')).toMatchObject({
      ok: false,
      code: 'NOT_FOUND',
      content,
      meta: null,
    });
  },
);

verifies(['string/client/incomplete', 'string/client/no-retry'], async () => {
  const endings: ((res: Parameters<typeof beginEvents>[0]) => void)[] = [
    (res) => beginEvents(res).end(HEAD),
    (res) => beginEvents(res).end(HEAD + CONTENT),
    (res) => void beginEvents(res).write(HEAD, () => res.destroy()),
    (res) => res.destroy(),
    (res) => beginEvents(res).end('event: head\ndata: {"ok":tr\n\n' + CONTENT + DONE),
  ];
  await using stringd = await ScriptedStringd.start((res, nth) => endings[nth]?.(res));
  const client = clientOf(stringd);
  for (const _ of endings)
    expect(await client.exec('main', '/info')).toMatchObject({ ok: false, code: 'STREAM_INCOMPLETE' });
  expect(stringd.commands).toHaveLength(endings.length);
});

verifies('string/client/queue', async () => {
  const refusals = [
    [429, { error: 'QUEUE_FULL', message: 'Topic me:main has 5 commands queued. Try again later.' }],
    [504, { error: 'QUEUE_TIMEOUT', message: 'Timed out waiting in queue.' }],
    [400, { error: 'Invalid topic: a b' }],
  ] as const;
  await using stringd = await ScriptedStringd.start((res, nth) => {
    const [status, body] = refusals[nth] ?? [500, {}];
    sendJson(res, status, body);
  });
  const client = clientOf(stringd);
  expect(await client.exec('main', '/info')).toMatchObject({ ok: false, code: 'QUEUE_FULL' });
  expect(await client.exec('main', '/info')).toMatchObject({ ok: false, code: 'QUEUE_TIMEOUT' });
  await expect(client.exec('a b', '/info')).rejects.toMatchObject({
    status: 400,
    message: 'Invalid topic: a b',
  });
  expect(stringd.commands).toHaveLength(3);
});

verifies('string/client/done', async () => {
  let finish = (): void => {};
  await using stringd = await ScriptedStringd.start((res) => {
    beginEvents(res).write(HEAD + CONTENT);
    finish = () => void res.end(DONE);
  });
  let isThere = false;
  const running = clientOf(stringd)
    .exec('main', '/info')
    .finally(() => (isThere = true));
  await until(() => stringd.commands.length === 1, 'the command');
  await new Promise((resolve) => setImmediate(resolve));
  expect(isThere).toBe(false);
  finish();
  expect(await running).toMatchObject({ ok: true });
});

verifies('string/client/auto-start', async () => {
  await using place = await StringPlace.make();
  expect(await place.client().exec('main', '/info')).toMatchObject({ ok: true });
  // One that starts a program looks like two for a moment.
  await until(() => place.daemons().length === 1, 'one daemon to be there');
});
