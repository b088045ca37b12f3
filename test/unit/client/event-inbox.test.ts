// Events as a client takes them: each once, none left out, and the server is told in time.

import { expect, test } from 'vitest';
import { ACK_BYTES, ACK_COUNT, EventInbox } from '../../../src/client/rex/event-inbox.js';
import { MAX_EARLY_EVENTS, ProcessEvents } from '../../../src/client/rex/process-events.js';

const output = (seq: number, data = 'x', id = 'p'): [string, Record<string, unknown>] => [
  'exec.stdout',
  { event_seq: seq, process_id: id, data, encoding: 'utf8' },
];

function listen(events: ProcessEvents, id = 'p'): string[] {
  const got: string[] = [];
  events.listen(id, {
    onOutput: (_stream, bytes) => got.push(bytes.toString()),
    onExit: () => {},
    onLost: () => {},
  });
  return got;
}

test('an event that comes again is passed over, one that is missing is noticed', () => {
  const events = new ProcessEvents();
  const inbox = new EventInbox(events);
  const got = listen(events);
  expect(inbox.receive(...output(1, 'a'))).toBe(true);
  expect(inbox.receive(...output(1, 'a'))).toBe(true);
  expect(inbox.receive(...output(2, 'b'))).toBe(true);
  expect(inbox.receive(...output(4, 'd'))).toBe(false);
  expect(got).toEqual(['a', 'b']);
  expect(inbox.received).toBe(2);
});

test('it is time to tell after ACK_COUNT events or ACK_BYTES of output', () => {
  const events = new ProcessEvents();
  const inbox = new EventInbox(events);
  listen(events);
  for (let seq = 1; seq < ACK_COUNT; seq += 1) inbox.receive(...output(seq));
  expect(inbox.isDue).toBe(false);
  inbox.receive(...output(ACK_COUNT));
  expect(inbox.isDue).toBe(true);
  expect([inbox.tell(), inbox.isDue, inbox.isTold]).toEqual([ACK_COUNT, false, true]);
  inbox.receive(...output(ACK_COUNT + 1, 'x'.repeat(ACK_BYTES)));
  expect([inbox.isDue, inbox.isTold]).toEqual([true, false]);
});

test('events of a process whose start is not answered yet are all kept, and the server keeps them too', () => {
  const events = new ProcessEvents();
  const inbox = new EventInbox(events);
  const many = 3 * MAX_EARLY_EVENTS;
  const expected = events.expectStart();
  for (let seq = 1; seq <= many; seq += 1) inbox.receive(...output(seq, String(seq)));
  expect([inbox.received, inbox.taken, inbox.isDue, inbox.isTold]).toEqual([many, 0, false, true]);
  const got = listen(events);
  expected[Symbol.dispose]();
  expected[Symbol.dispose]();
  expect(got).toHaveLength(many);
  expect([inbox.taken, inbox.isDue]).toEqual([many, true]);
});

test('events of sessions that are not resumed have no numbers, and are given as they come', () => {
  const events = new ProcessEvents();
  const got = listen(events);
  const inbox = new EventInbox(events);
  for (const data of ['a', 'b'])
    expect(inbox.receive('exec.stdout', { process_id: 'p', data, encoding: 'utf8' })).toBe(true);
  expect([got, inbox.isTold]).toEqual([['a', 'b'], true]);
});
