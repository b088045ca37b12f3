// The six hubs: their pages, and the verbs that only they have.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HUBS } from '../../../src/string/topic.js';
import { makePlace } from './place.js';

test('every hub has a page: by /open there, by /open HUB from anywhere, by nothing at all', async () => {
  await using place = makePlace();
  for (const hub of HUBS) {
    const title = hub === 'event' ? '# event inbox' : `# ${hub} hub`;
    const page = await place.run('main', `/open ${hub}`);
    expect(page, hub).toMatchObject({ ok: true, topic: { type: 'hub', name: hub } });
    expect(page.content.startsWith(`${title}\n`), hub).toBe(true);
    expect((await place.run(hub, '/open')).content).toBe(page.content);
    expect((await place.run(hub, '')).content).toBe(page.content);
    expect(await place.run(hub, 'text')).toMatchObject({ code: 'COMMAND_UNSUPPORTED' });
    expect((await place.run(hub, '/help')).content).toContain('/open TARGET');
  }
});

test('app and tool: what is installed and what is open', async () => {
  await using place = makePlace();
  expect((await place.run('app', '/open')).content).toMatch(
    /^# app hub\n\n## Installed \(0\)\n.*## Open sessions \(0\)\n.*## Manage\n/s,
  );
  writeFileSync(
    join(place.home, 'config.json'),
    '{"apps":{"weather":"file:///w"},"tools":{"git":"file:///g"}}',
  );
  await place.run('app:weather:korea', '/info');
  const { content } = await place.run('app', '/open');
  expect(content).toContain('## Installed (1)\n  weather  file:///w');
  expect(content).toContain('## Open sessions (1)\n  app:weather:korea  (no doc)');
  expect((await place.run('tool', '/open')).content).toMatch(
    /## Installed \(1\)\n {2}git {2}file:\/\/\/g\n\n## Run\n.*## Manage\n/s,
  );
  expect((await place.run('app:weather:korea', '/info')).content).toContain(
    'status:    installed, not yet opened',
  );
  expect((await place.run('app:other', '/info')).content).toContain(
    'status:    not installed\ninstalled: weather',
  );
  expect(await place.run('main', '/open app:other')).toMatchObject({
    code: 'NOT_FOUND',
    topic: { name: 'app:other' },
    content: "App 'other' is not installed.\nInstalled: weather",
  });
});

test('system: figures, status, stop, and no restart', async () => {
  await using place = makePlace();
  await place.run('main', '/info');
  expect((await place.run('system', '/open')).content).toMatch(
    /## Stats\n {2}home: .*\n {2}apps: 0\n {2}tools: 0\n {2}sessions: 2 \(1 tab, 0 app, 0 bash, 1 hub\)\n\n## Controls\n.*## Env\n/s,
  );
  expect((await place.run('system', '/status')).content).toBe(
    'stringd running on port 3923 — 1 agent(s), 3 session(s)',
  );
  expect(await place.run('system', '/restart')).toMatchObject({ code: 'COMMAND_UNSUPPORTED' });
  expect(place.services.stops).toHaveLength(0);
  expect((await place.run('system', '/stop')).content).toBe('stringd stopping');
  expect(place.services.stops).toHaveLength(1);
});

test('agent: list, current, add, use, set-home, rm', async () => {
  await using place = makePlace();
  const { run, home } = place;
  expect((await run('agent', '/list')).content).toBe(`* default\t${home}`);
  expect((await run('agent', '/current')).content).toBe(`default\t${home}\tconfig: /cfg/config.json`);
  expect((await run('agent', '/add bob --home "/b b" --allow /x,/y')).content).toBe(
    "Added agent 'bob' (home: /b b)\nallowedPaths: /x, /y\nnext: string agent use bob",
  );
  expect((await run('agent', '/add bob')).content).toContain("Updated agent 'bob' (home: /b b)");
  expect((await run('agent', '/list')).content).toBe(`* default\t${home}\n  bob\t/b b`);
  expect((await run('agent', '/use bob')).content).toBe(
    "Current agent set to 'bob' (global: /cfg/config.json).",
  );
  expect((await run('agent', '/use eve --local')).content).toMatch(
    /^Current agent set to 'eve' \(local: \/here\/.string\/config.json\)\.\nNote: agent 'eve' is not registered/,
  );
  expect((await run('agent', '/set-home bob /c')).content).toBe("Set home for 'bob' -> /c");
  expect(await run('agent', '/set-home nobody /c')).toMatchObject({ code: 'NOT_FOUND' });
  expect((await run('agent', '/rm bob')).content).toBe("Removed agent 'bob'.");
  expect((await run('agent', '/remove bob')).content).toBe("Agent 'bob' did not exist.");
  for (const cmd of ['/add', '/use', '/set-home bob', '/rm', '/add ../x', '/add "open'])
    expect(await run('agent', cmd), cmd).toMatchObject({ code: 'INVALID_PAYLOAD' });
  place.services.known.clear();
  expect((await run('agent', '/list')).content).toBe('No agents registered.');
});

test('event: the inbox under short names, and the webhook', async () => {
  await using place = makePlace();
  const url = 'http://127.0.0.1:3923/webhook/wh_1';
  expect((await place.run('event', '/open')).content).toContain(url);
  expect((await place.run('event', '/webhook show')).content).toBe(`Webhook URL\n---\n${url}`);
  expect((await place.run('event', '/webhook create')).content).toContain(url);
  expect((await place.run('event', '/webhook rotate')).content).toContain('wh_2');
  expect(await place.run('event', '/webhook nope')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  expect((await place.run('event', '/list --all')).content).toContain('## Recent events (0)');
  expect(await place.run('event', '/read evt_x_y')).toMatchObject({ code: 'NOT_FOUND' });
  expect(await place.run('event', '/ack')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  expect((await place.run('event', '/clear')).content).toBe('Cleared 0 events');
});

test('the verbs of a hub are nowhere else', async () => {
  await using place = makePlace();
  for (const cmd of ['/list', '/status', '/stop', '/webhook show', '/add x', '/current'])
    for (const topic of ['main', 'app', 'app:x'])
      expect(await place.run(topic, cmd), `${topic} ${cmd}`).toMatchObject({ code: 'COMMAND_UNSUPPORTED' });
  expect(await place.run('event', '/status')).toMatchObject({ ok: false });
  expect(await place.run('system', '/list')).toMatchObject({ ok: false });
});
