// One agent's topics: made on first contact, told apart, closed.

import { expect, test } from 'vitest';
import { makePlace, topicOf } from './place.js';

test('a topic is there from the first command on', async () => {
  await using place = makePlace();
  expect(place.runtime.topics()).toEqual([]);
  const outcome = await place.run('docs', '/info');
  expect(outcome).toMatchObject({ ok: true, code: null, topic: { type: 'tab', name: 'docs' }, meta: null });
  expect(outcome.content).toMatch(/^Session info\n---\nstring: {4}v\d/);
  expect(place.runtime.topics()).toEqual([{ topic: 'docs', topic_type: 'tab', doc: null }]);
});

test('opening makes a topic once; closing says whether there was one', async () => {
  await using place = makePlace();
  expect(place.runtime.open(topicOf('app:x'))).toEqual({ created: true });
  expect(place.runtime.open(topicOf('app:x'))).toEqual({ created: false });
  expect(await place.runtime.closeTopic(topicOf('app:x'))).toBe(true);
  expect(await place.runtime.closeTopic(topicOf('app:x'))).toBe(false);
});

test('what is no command is refused, in the words of the seed', async () => {
  await using place = makePlace();
  expect(await place.run('main', 'hello')).toMatchObject({
    ok: false,
    code: 'COMMAND_UNSUPPORTED',
    content: 'Commands must start with /. Use /help for details.',
  });
  expect(await place.run('main', '/nonsense x')).toMatchObject({
    ok: false,
    code: 'COMMAND_UNSUPPORTED',
    content: 'Unknown command: /nonsense\nUse /info to see available commands.',
  });
});

test('/help lists the commands, whatever the case and with a slash too many', async () => {
  await using place = makePlace();
  for (const cmd of ['/help', '/HELP', '//help', '  /help  ']) {
    const { ok, content } = await place.run('main', cmd);
    expect(ok).toBe(true);
    expect(content).toMatch(/^String Commands\n---\n/);
    expect(content).toContain('/info');
  }
});
