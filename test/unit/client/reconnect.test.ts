// Connecting again: at once, then after longer and longer pauses, until it works, or makes no sense, or takes too long.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newAbort } from '../../../src/base/abort.js';
import { EventInbox } from '../../../src/client/rex/event-inbox.js';
import { ProcessEvents } from '../../../src/client/rex/process-events.js';
import { SessionLostError, tryToResume } from '../../../src/client/rex/reconnect.js';
import { RESUME_TIMEOUT_MS, ResumableConnection } from '../../../src/client/rex/resumable-connection.js';
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from '../../../src/client/try-again.js';
import { RpcPeer } from '../../../src/wire/jsonrpc/peer.js';
import { linkedPair } from '../../../src/wire/transport/memory.js';

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0.5));
afterEach(() => void vi.restoreAllMocks());

test('pauses double from FIRST_PAUSE_MS', async () => {
  const at: number[] = [];
  const end = newAbort();
  const trying = tryToResume(() => {
    at.push(performance.now());
    if (at.length === 4) end.abort(new Error('enough'));
    return Promise.reject(new Error('no route'));
  }, end.signal);
  await expect(trying).rejects.toThrow('the session is lost: enough; the last attempt: no route');
  const pauses = at.slice(1).map((ms, i) => ms - (at[i] ?? 0));
  for (const [i, pause] of pauses.entries()) expect(pause).toBeGreaterThan(FIRST_PAUSE_MS * 2 ** i - 5);
  expect(FIRST_PAUSE_MS * 2 ** 20).toBeGreaterThan(LONGEST_PAUSE_MS); // which is the longest, then
});

test('what says that the session is gone ends it at once', async () => {
  const gone = new SessionLostError('it was closed');
  await expect(tryToResume(() => Promise.reject(gone), newAbort().signal)).rejects.toBe(gone);
});

test('a link over which nobody answers in RESUME_TIMEOUT_MS is given up for the next', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const far: ReturnType<typeof linkedPair>[0][] = [];
    const link = (): ReturnType<typeof linkedPair>[0] => {
      const [near, other] = linkedPair();
      far.push(other);
      return near;
    };
    const connection = new ResumableConnection({
      peer: new RpcPeer(link()),
      sessionId: 's',
      resume: { token: 't', window_ms: 10 * RESUME_TIMEOUT_MS },
      inbox: new EventInbox(new ProcessEvents()),
      reconnect: { connect: () => Promise.resolve(link()) },
    });
    far[0]?.output.end();
    far[0]?.input.resume();
    while (far.length < 2) await new Promise((resolve) => setImmediate(resolve)); // the first attempt waits for nothing
    expect(far).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(RESUME_TIMEOUT_MS - 100);
    expect(far).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(100);
    vi.useRealTimers(); // the pause before the next is that of node:timers/promises
    await vi.waitFor(() => expect(far).toHaveLength(3), { timeout: 60_000 });
    await connection.close();
  } finally {
    vi.useRealTimers();
  }
});
