// Events over one connection after another: each once, none left out, and pauses that grow.

import { expect, test, vi } from 'vitest';
import { StringClient } from '../../../../src/client/string/browser.js';
import {
  MAX_RECONNECT_MS,
  MAX_SEEN_EVENTS,
  MIN_RECONNECT_MS,
  STREAM_IDLE_MS,
} from '../../../../src/client/string/watch-events.js';
import { fetchFailed, scriptedFetch, stream, withFakeTimers } from './scripted-fetch.js';

const READY = 'event: ready\ndata: {"agent_id":"default"}\n\n';

function incoming(id: string): string {
  const data = {
    id,
    agentId: 'default',
    receivedAt: '',
    source: 'local-webhook',
    text: id,
    status: 'pending',
  };
  return `event: event\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A daemon whose every connection gives the next of `connections`; the last one stays open. */
function daemonOf(connections: readonly (readonly string[])[]) {
  let next = 0;
  return scriptedFetch(({ path, signal }) => {
    if (!path.startsWith('/events/stream')) return undefined;
    const pieces = connections[next] ?? [READY];
    next += 1;
    return stream([READY, ...pieces], next >= connections.length ? 'open' : 'break', signal);
  });
}

const fast = { minReconnectMs: 1, maxReconnectMs: 2 };

test('each event is given once, over as many connections as it takes', async () => {
  const fetch = daemonOf([[incoming('a'), incoming('b')], [incoming('b'), incoming('c')], [incoming('d')]]);
  const seen: string[] = [];
  const lost: string[] = [];
  for await (const { id } of new StringClient({ fetch }).events({
    ...fast,
    onLost: ({ message }) => lost.push(message),
  })) {
    seen.push(id);
    if (id === 'd') break;
  }
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
  expect(lost).toHaveLength(2);
  const streams = fetch.asked.filter(({ path }) => path.startsWith('/events'));
  expect(streams.map(({ path }) => path)).toEqual([
    '/events/stream',
    '/events/stream?last_event_id=b',
    '/events/stream?last_event_id=c',
  ]);
  expect(streams.at(-1)?.signal.aborted).toBe(true);
});

test('by the header where that is allowed, and only new events on request', async () => {
  const fetch = daemonOf([[incoming('a')], [incoming('b')]]);
  const client = new StringClient({ fetch });
  for await (const { id } of client.events({ ...fast, lastEventIdIn: 'header', replay: false }))
    if (id === 'b') break;
  const streams = fetch.asked.filter(({ path }) => path.startsWith('/events'));
  expect(streams.map(({ path, headers }) => [path, headers['Last-Event-ID']])).toEqual([
    ['/events/stream?replay=0', undefined],
    ['/events/stream', 'a'],
  ]);
});

test(
  'pauses between attempts grow, up to a longest one, and are short again after an event',
  withFakeTimers(async () => {
    const attempts: number[] = [];
    let isBack = false;
    const fetch = scriptedFetch(({ path, signal }) => {
      if (!path.startsWith('/events/stream')) return undefined;
      attempts.push(Date.now());
      if (!isBack) throw fetchFailed('ECONNREFUSED');
      isBack = false;
      void signal;
      return stream([READY, incoming(`e${attempts.length}`)], 'break');
    });
    const client = new StringClient({ fetch });
    const watch = client.watchEvents(() => {});
    await vi.advanceTimersByTimeAsync(10 * MAX_RECONNECT_MS);
    const pauses = attempts.slice(1).map((at, i) => at - (attempts[i] ?? 0));
    expect(pauses[0]).toBeLessThanOrEqual(1.25 * MIN_RECONNECT_MS + 1);
    expect(pauses[3]).toBeGreaterThanOrEqual(0.75 * 8 * MIN_RECONNECT_MS - 1);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1.25 * MAX_RECONNECT_MS + 1);
    isBack = true;
    const before = attempts.length;
    await vi.advanceTimersByTimeAsync(2 * MAX_RECONNECT_MS);
    expect((attempts[before + 1] ?? 0) - (attempts[before] ?? 0)).toBeLessThanOrEqual(
      1.25 * MIN_RECONNECT_MS + 1,
    );
    await watch.close();
  }),
);

test(
  'a stream that says nothing for long is given up, and another is opened',
  withFakeTimers(async () => {
    const fetch = daemonOf([[], []]);
    const quiet = scriptedFetch(({ path, signal }) =>
      path.startsWith('/events/stream') ? stream([READY], 'open', signal) : undefined,
    );
    void fetch;
    const lost: string[] = [];
    const watch = new StringClient({ fetch: quiet }).watchEvents(() => {}, {
      onLost: ({ message }) => lost.push(message),
    });
    await vi.advanceTimersByTimeAsync(STREAM_IDLE_MS - 1000);
    expect(lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000 + 2 * MIN_RECONNECT_MS);
    expect(lost).toEqual([expect.stringContaining(`nothing was heard for ${STREAM_IDLE_MS} ms`)]);
    expect(quiet.asked.filter(({ path }) => path.startsWith('/events'))).toHaveLength(2);
    await watch.close();
  }),
);

test('what is remembered of events has an end', async () => {
  const ids = Array.from({ length: MAX_SEEN_EVENTS + 1 }, (_, i) => `e${i}`);
  const fetch = daemonOf([ids.map(incoming), [incoming('e1'), incoming('e0'), incoming('last')]]);
  const seen: string[] = [];
  for await (const { id } of new StringClient({ fetch }).events(fast)) {
    seen.push(id);
    if (id === 'last') break;
  }
  expect(seen.slice(MAX_SEEN_EVENTS)).toEqual([`e${MAX_SEEN_EVENTS}`, 'e0', 'last']); // e0 was the oldest
});

test('an agent that is not there ends the watch; so does a handler that throws', async () => {
  const unknown = scriptedFetch(({ path }) =>
    path.startsWith('/events/stream')
      ? Response.json({ error: 'Unknown agent: default' }, { status: 401 })
      : undefined,
  );
  await expect(new StringClient({ fetch: unknown }).watchEvents(() => {}).closed).rejects.toThrow(
    'Unknown agent: default',
  );
  const watch = new StringClient({ fetch: daemonOf([[incoming('a')]]) }).watchEvents(() => {
    throw new Error('cannot');
  });
  await expect(watch.closed).rejects.toThrow('cannot');
});

test('events are acknowledged after the handler, when that is wanted; a closed watch says no more', async () => {
  const done: string[] = [];
  const fetch = scriptedFetch(({ path, signal }) => {
    if (path.startsWith('/events/stream')) return stream([READY, incoming('a')], 'open', signal);
    if (!path.endsWith('/ack')) return undefined;
    done.push(path);
    return Response.json({ ok: true });
  });
  await using watch = new StringClient({ fetch }).watchEvents(({ id }) => void done.push(id), {
    autoAck: true,
  });
  await expect.poll(() => done, { timeout: 60_000 }).toEqual(['a', '/events/a/ack']);
  await watch.close();
  await watch.closed;
});

test('an acknowledgement that fails is sent again, unless there is nothing to acknowledge or nobody may', async () => {
  const acks: string[] = [];
  const answers = [
    () => Response.json({ error: 'busy' }, { status: 503 }),
    () => Promise.reject(fetchFailed('ECONNREFUSED')),
    () => Response.json({ ok: true }),
    () => Response.json({ error: 'no such event' }, { status: 404 }),
    () => Response.json({ error: 'Unknown agent: default' }, { status: 401 }),
  ];
  const fetch = scriptedFetch(({ path, signal }) => {
    if (path.startsWith('/events/stream'))
      return stream([READY, incoming('a'), incoming('b'), incoming('c')], 'open', signal);
    if (!path.endsWith('/ack')) return undefined;
    acks.push(path);
    return answers.shift()?.();
  });
  const handled: string[] = [];
  const watch = new StringClient({ fetch }).watchEvents(({ id }) => void handled.push(id), {
    ...fast,
    autoAck: true,
  });
  await expect(watch.closed).rejects.toThrow('Unknown agent: default');
  expect(handled).toEqual(['a', 'b', 'c']);
  expect(acks).toEqual(['a', 'a', 'a', 'b', 'c'].map((id) => `/events/${id}/ack`));
});

test('a watch that cannot acknowledge can be closed', async () => {
  const fetch = scriptedFetch(({ path, signal }) => {
    if (path.startsWith('/events/stream')) return stream([READY, incoming('a')], 'open', signal);
    return path.endsWith('/ack') ? Response.json({ error: 'busy' }, { status: 503 }) : undefined;
  });
  const watch = new StringClient({ fetch }).watchEvents(() => {}, { autoAck: true });
  await expect
    .poll(() => fetch.asked.some(({ path }) => path.endsWith('/ack')), { timeout: 60_000 })
    .toBe(true);
  await watch.close();
  await watch.closed;
});

test('a watch can be closed while the daemon is not ready yet', async () => {
  const answers: ((reply: Response) => void)[] = [];
  const registered = new Promise<Response>((resolve) => void answers.push(resolve));
  const fetch = scriptedFetch(({ path }) => (path === '/agents' ? registered : undefined));
  const client = new StringClient({ fetch });
  const watch = client.watchEvents(() => {});
  await watch.close();
  await watch.closed;
  answers[0]?.(Response.json({}));
  await client.ready();
  expect(fetch.asked.map(({ path }) => path)).toEqual(['/health', '/agents']);
});
