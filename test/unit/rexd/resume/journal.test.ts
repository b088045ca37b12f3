// The journal of a session: whatever is cut and acknowledged in whatever order, the client has each event once, in order.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newAbort } from '../../../../src/base/abort.js';
import { JOURNAL_BYTES, Journal, MAX_POLLS, type Outlet } from '../../../../src/rexd/resume/journal.js';
import { runs } from '../../../helpers/runs.js';

const frame = (text: string): Buffer =>
  Buffer.from(
    `${JSON.stringify({ jsonrpc: '2.0', method: 'exec.stdout', params: { session_id: 's', data: text } })}\n`,
  );

interface Event {
  readonly event_seq: number;
  readonly data: string;
}

const read = (bytes: Uint8Array): Event =>
  (JSON.parse(Buffer.from(bytes).toString('utf8')) as { params: Event }).params;

/** A client that takes `room` events and then no more until it is drained. */
class Client implements Outlet {
  readonly got: Event[] = [];
  room: number;
  #drained: { resolve: () => void; reject: (reason: Error) => void }[] = [];

  constructor(room = Number.POSITIVE_INFINITY) {
    this.room = room;
  }

  readonly send = (bytes: Uint8Array): boolean => {
    this.got.push(read(bytes));
    this.room -= 1;
    return this.room > 0;
  };

  readonly drained = (): Promise<void> =>
    new Promise((resolve, reject) => this.#drained.push({ resolve, reject }));

  async take(room: number): Promise<void> {
    this.room = room;
    for (const { resolve } of this.#drained.splice(0)) resolve();
    await Promise.resolve();
    await Promise.resolve();
  }

  async breakOff(): Promise<void> {
    for (const { reject } of this.#drained.splice(0)) reject(new Error('gone'));
    await Promise.resolve();
    await Promise.resolve();
  }
}

test('events are numbered from 1, in the frame itself', () => {
  const journal = new Journal();
  const client = new Client();
  journal.attach(client, 0);
  for (const text of ['a', 'b', 'c']) void journal.sink(frame(text));
  expect(client.got.map(({ event_seq, data }) => [event_seq, data])).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
  ]);
  expect(journal.last).toBe(3);
});

test('a frame is copied: what lent it may write over it at once', () => {
  const journal = new Journal();
  const lent = frame('first');
  void journal.sink(lent);
  lent.fill(0);
  expect(journal.after(0, 1024, 8).map((bytes) => read(bytes).data)).toEqual(['first']);
});

test('past JOURNAL_BYTES whoever writes waits, and goes on when half of it is acknowledged', async () => {
  const journal = new Journal();
  const text = 'x'.repeat(64 * 1024);
  let waiting: Promise<void> | undefined;
  let events = 0;
  for (; waiting === undefined; events += 1) waiting = journal.sink(frame(text));
  expect(journal.bytes).toBeGreaterThan(JOURNAL_BYTES);
  expect(journal.bytes).toBeLessThan(JOURNAL_BYTES + 2 * text.length);
  let freed = false;
  void waiting.then(() => (freed = true));
  journal.ack(1);
  await Promise.resolve();
  expect(freed).toBe(false);
  journal.ack(Math.ceil(events / 2) + 1);
  await waiting;
  expect(journal.bytes).toBeLessThanOrEqual(JOURNAL_BYTES / 2);
});

test('a client that takes nothing more is not sent more, and nothing is missing when it does', async () => {
  const journal = new Journal();
  const client = new Client(2);
  journal.attach(client, 0);
  for (let i = 1; i <= 6; i += 1) void journal.sink(frame(String(i)));
  expect(client.got).toHaveLength(2);
  await client.take(3);
  expect(client.got).toHaveLength(5);
  await client.take(9);
  expect(client.got.map(({ event_seq }) => event_seq)).toEqual([1, 2, 3, 4, 5, 6]);
});

test('a connection that was replaced brings nothing more, whatever becomes of it', async () => {
  const journal = new Journal();
  const old = new Client(1);
  journal.attach(old, 0);
  for (const text of ['a', 'b', 'c']) void journal.sink(frame(text));
  const fresh = new Client();
  journal.attach(fresh, 0);
  await old.take(9);
  await old.breakOff();
  journal.detach(old);
  void journal.sink(frame('d'));
  expect(old.got).toHaveLength(1);
  expect(fresh.got.map(({ data }) => data)).toEqual(['a', 'b', 'c', 'd']);
});

test('what was acknowledged and what is yet to come cannot be resumed from', () => {
  const journal = new Journal();
  for (const text of ['a', 'b', 'c']) void journal.sink(frame(text));
  journal.ack(2);
  expect([0, 1, 2, 3, 4].map((seq) => journal.reaches(seq))).toEqual([false, false, true, true, false]);
  journal.ack(99); // of events that were never sent
  expect(journal.acked).toBe(3);
  expect(journal.bytes).toBe(0);
});

test('a poll waits for the next event, for its time, or for the end, and MAX_POLLS wait at most', async () => {
  const journal = new Journal();
  const never = newAbort().signal;
  await journal.next(0, 1, never);
  expect(journal.last).toBe(0);
  const polls = Array.from({ length: MAX_POLLS }, () => journal.next(0, 60_000, never));
  expect(polls).not.toContain(undefined);
  expect(journal.next(0, 60_000, never)).toBeUndefined();
  void journal.sink(frame('a'));
  for (const poll of polls) await poll;
  const late = journal.next(1, 60_000, never);
  journal.finish();
  await late;
});

test('a session that is ending keeps nothing that was sent, and nobody waits for a client that is not there', async () => {
  const journal = new Journal(100);
  const client = new Client(1);
  journal.attach(client, 0);
  const waits = [journal.sink(frame('a')), journal.sink(frame('b'))];
  journal.finish();
  await client.take(9);
  for (const wait of waits) await wait;
  expect(client.got.map(({ data }) => data)).toEqual(['a', 'b']);
  expect(journal.bytes).toBe(0);
  journal.detach(client);
  expect(journal.sink(frame('c'))).toBeUndefined();
  expect(journal.bytes).toBe(0);
});

type Step =
  | { readonly do: 'write'; readonly count: number }
  | { readonly do: 'cut' }
  | { readonly do: 'resume'; readonly room: number }
  | { readonly do: 'take'; readonly room: number }
  | { readonly do: 'ack'; readonly share: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('write' as const), count: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ do: fc.constant('cut' as const) }),
    fc.record({ do: fc.constant('resume' as const), room: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ do: fc.constant('take' as const), room: fc.integer({ min: 1, max: 6 }) }),
    fc.record({ do: fc.constant('ack' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  ),
  { maxLength: 60 },
);

test('any order of writing, cutting, resuming, taking and acknowledging brings each event once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const journal = new Journal(2000);
      const arrived: Event[] = [];
      let client: Client | undefined;
      let written = 0;
      const lose = (): void => {
        // All that was sent has arrived, or only some of it: the rest is sent again.
        if (client !== undefined) arrived.push(...client.got.slice(0, Math.ceil(client.got.length / 2)));
        client = undefined;
      };
      const resume = (room: number): void => {
        lose();
        client = new Client(room);
        journal.attach(client, arrived.length);
      };
      for (const step of script) {
        if (step.do === 'write')
          for (let i = 0; i < step.count; i += 1) void journal.sink(frame(String((written += 1))));
        else if (step.do === 'cut') {
          journal.detach(client);
          lose();
        } else if (step.do === 'resume') resume(step.room);
        else if (step.do === 'take') await client?.take(step.room);
        else journal.ack(Math.floor(arrived.length * step.share));
      }
      resume(Number.POSITIVE_INFINITY);
      arrived.push(...(client?.got ?? []));
      expect(arrived.map(({ event_seq }) => event_seq)).toEqual(
        Array.from({ length: written }, (_, i) => i + 1),
      );
      expect(arrived.map(({ data }) => data)).toEqual(
        Array.from({ length: written }, (_, i) => String(i + 1)),
      );
      journal.ack(written);
      expect(journal.bytes).toBe(0);
    }),
    { numRuns: runs(3000) },
  );
});
