import { expect, test } from 'vitest';
import { STREAM_PING_MS } from '../../../../src/string/protocol.js';
import { until } from '../../../helpers/wait.js';
import { type DaemonPlace, ME, openDaemon } from './daemon-place.js';

async function poster(place: DaemonPlace): Promise<(text: string) => Promise<string>> {
  const { webhook_url } = (await place.ask('/agents/me/webhook')).json as { webhook_url: string };
  return async (body) => {
    const { json } = await place.ask(new URL(webhook_url).pathname, { method: 'POST', body });
    return String(json['event_id']);
  };
}

test('a stream says ready, sends what waits and what comes, with ids, and pings', async () => {
  expect(STREAM_PING_MS).toBe(30_000);
  await using place = await openDaemon({ waits: { streamPingMs: 20 } });
  const post = await poster(place);
  const early = await post('early');
  using stream = place.stream('/events/stream', { headers: ME });
  await stream.event('ready');
  const late = await post('late');
  await stream.event('event', ({ id }: { id: string }) => id === late);
  expect(stream.headers['content-type']).toBe('text/event-stream');
  expect(stream.events[0]).toEqual({ event: 'ready', data: { agent_id: 'me' } });
  expect(stream.events.filter(({ event }) => event === 'event')).toEqual(
    [
      [early, 'early'],
      [late, 'late'],
    ].map(([id, text]) => ({
      event: 'event',
      id,
      data: {
        id,
        agentId: 'me',
        receivedAt: expect.any(String),
        source: 'local-webhook',
        text,
        status: 'pending',
      },
    })),
  );
  expect((await stream.event('ping')).data).toEqual({ t: expect.any(String) });
});

test('?replay=0 sends only what comes from now on; Last-Event-ID goes on from there', async () => {
  await using place = await openDaemon();
  const post = await poster(place);
  const ids = [await post('one'), await post('two')];
  using fresh = place.stream('/events/stream?replay=0', { headers: ME });
  await fresh.event('ready');
  ids.push(await post('three'));
  await fresh.event('event', ({ text }: { text: string }) => text === 'three');
  expect(fresh.events.filter(({ event }) => event === 'event')).toHaveLength(1);
  const last = ids[0] ?? '';
  for (const [path, headers] of [
    ['/events/stream', { ...ME, 'Last-Event-ID': last }],
    [`/events/stream?last_event_id=${last}`, ME], // as a web page has to say it
  ] as const) {
    using resumed = place.stream(path, { headers });
    await resumed.event('event', ({ text }: { text: string }) => text === 'three');
    const texts = resumed.events.filter(({ event }) => event === 'event').map(({ id }) => id);
    expect(texts).toEqual(ids.slice(1));
  }
});

test('events are delivered, counted and acknowledged, each by its own agent only', async () => {
  await using place = await openDaemon();
  await place.ask('/agents', { json: { agent_id: 'other' } });
  const post = await poster(place);
  const id = await post('one');
  const counts = async () => (await place.ask('/events/count', { headers: ME })).json;
  expect(await counts()).toMatchObject({ pending: 1, delivered: 0, ack: 0, unacked: 1 });
  using stream = place.stream('/events/stream', { headers: ME });
  await stream.event('event');
  await until(async () => (await counts())['delivered'] === 1, 'the delivery to be noted');
  const ack = async (agent: string) => {
    const reply = await place.ask(`/events/${id}/ack`, { method: 'POST', headers: { 'X-Agent-Id': agent } });
    return [reply.status, reply.json];
  };
  expect(await ack('other')).toEqual([404, { error: `Event not found: ${id}` }]);
  for (let i = 0; i < 2; i++)
    expect(await ack('me')).toEqual([200, { ok: true, event_id: id, status: 'ack' }]);
  expect(await counts()).toEqual({ pending: 0, delivered: 0, ack: 1, unacked: 0, oldest_unacked_at: null });
});

test('a deleted agent loses its streams; those of others stay', async () => {
  await using place = await openDaemon();
  await place.ask('/agents', { json: { agent_id: 'other' } });
  using mine = place.stream('/events/stream', { headers: ME });
  using others = place.stream('/events/stream', { headers: { 'X-Agent-Id': 'other' } });
  await Promise.all([mine.event('ready'), others.event('ready')]);
  await place.ask('/agents/me', { method: 'DELETE' });
  await until(() => mine.ended, 'the stream to end');
  expect(others.ended).toBe(false);
});

test('streams that are reset over and over leave nothing behind', async () => {
  await using place = await openDaemon();
  for (let i = 0; i < 50; i++) {
    using stream = place.stream('/events/stream', { headers: ME });
    await until(() => stream.status > 0, 'the answer');
  }
  const open = async (): Promise<string | undefined> =>
    /^stringd_event_streams (\d+)$/m.exec((await place.ask('/metrics')).text)?.[1];
  await until(async () => (await open()) === '0', 'every stream to be gone');
  expect(await open()).toBe('0');
});

test('who names no agent, or an unknown one, gets no stream', async () => {
  await using place = await openDaemon();
  for (const [headers, status, error] of [
    [{}, 400, 'X-Agent-Id header required'],
    [{ 'X-Agent-Id': 'nobody' }, 401, 'Unknown agent: nobody'],
  ] as const)
    for (const path of ['/events/stream', '/events/count']) {
      const reply = await place.ask(path, { headers });
      expect([reply.status, reply.json]).toEqual([status, { error }]);
    }
});
