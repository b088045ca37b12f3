// The event stream.

import { expect } from 'vitest';
import { until } from '../../helpers/wait.js';
import { ME, StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

/** A ping comes twice a minute; what hangs is told from what is late. */
const LONGEST_SILENCE_MS = 120_000;

verifies('string/stream/ready', async () => {
  await using stringd = await StringdUnderTest.start();
  using stream = stringd.stream('/events/stream', { headers: { ...ME, Accept: 'text/event-stream' } });
  await stream.event('ready');
  expect(stream.events[0]).toEqual({ event: 'ready', data: { agent_id: 'me' } });
  expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
});

verifies('string/stream/event', async () => {
  await using stringd = await StringdUnderTest.start();
  using stream = stringd.stream('/events/stream', { headers: ME });
  await stream.event('ready');
  const { json } = await stringd.post('ünïcode\nand lines');
  expect((await stream.event('event')).data).toMatchObject({
    id: json['event_id'],
    agentId: 'me',
    receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    source: 'local-webhook',
    text: 'ünïcode\nand lines',
    status: 'pending',
  });
});

verifies(
  'string/stream/ping',
  async () => {
    await using stringd = await StringdUnderTest.start();
    using stream = stringd.stream('/events/stream', { headers: ME });
    const ping = await until(
      () => stream.events.find(({ event }) => event === 'ping'),
      'a ping',
      LONGEST_SILENCE_MS,
    );
    expect(ping.data).toEqual({ t: expect.stringMatching(/^\d{4}-.*Z$/) });
  },
  LONGEST_SILENCE_MS + 90_000,
);

verifies('string/stream/refusals', async () => {
  await using stringd = await StringdUnderTest.start();
  const none = await stringd.ask('/events/stream');
  expect([none.status, none.json]).toEqual([400, { error: 'X-Agent-Id header required' }]);
  const unknown = await stringd.ask('/events/stream', { headers: { 'X-Agent-Id': 'nobody' } });
  expect([unknown.status, unknown.json]).toEqual([401, { error: 'Unknown agent: nobody' }]);
});

verifies('string/stream/replay', async () => {
  await using stringd = await StringdUnderTest.start();
  const ids = [];
  for (const text of ['one', 'two', 'three']) ids.push(String((await stringd.post(text)).json['event_id']));
  using all = stringd.stream('/events/stream', { headers: ME });
  await all.event('event', ({ text }: { text: string }) => text === 'three');
  const replayed = all.events.filter(({ event }) => event === 'event');
  expect(replayed.map(({ id }) => id)).toEqual(ids);
  using later = stringd.stream('/events/stream', { headers: { ...ME, 'Last-Event-ID': ids[1] ?? '' } });
  await later.event('event');
  expect(later.events.find(({ event }) => event === 'event')).toMatchObject({ id: ids[2] });
  using fresh = stringd.stream('/events/stream?replay=0', { headers: ME });
  await fresh.event('ready');
  await stringd.post('four');
  expect((await fresh.event('event')).data).toMatchObject({ text: 'four' });
});

verifies('string/stream/only-own', async () => {
  await using stringd = await StringdUnderTest.start();
  await stringd.ask('/agents', { json: { agent_id: 'other' } });
  using stream = stringd.stream('/events/stream', { headers: ME });
  await stream.event('ready');
  await stringd.ask(await stringd.webhook('other'), { body: 'not yours' });
  await stringd.post('yours');
  expect((await stream.event('event')).data).toMatchObject({ text: 'yours' });
});

verifies('string/ext/count-ack', async () => {
  await using stringd = await StringdUnderTest.start();
  const id = String((await stringd.post('one')).json['event_id']);
  const count = async () => (await stringd.ask('/events/count', { headers: ME })).json;
  expect(await count()).toMatchObject({ pending: 1, unacked: 1, oldest_unacked_at: expect.any(String) });
  for (let i = 0; i < 2; i++)
    expect((await stringd.ask(`/events/${id}/ack`, { method: 'POST', headers: ME })).status).toBe(200);
  expect(await count()).toEqual({ pending: 0, delivered: 0, ack: 1, unacked: 0, oldest_unacked_at: null });
  expect((await stringd.ask('/events/evt_a_b/ack', { method: 'POST', headers: ME })).status).toBe(404);
  expect((await stringd.ask('/events/count')).status).toBe(400);
  expect((await stringd.ask('/events/count', { headers: { 'X-Agent-Id': 'nobody' } })).status).toBe(401);
});
