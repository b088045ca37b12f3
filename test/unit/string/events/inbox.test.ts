import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLog } from '../../../../src/base/log.js';
import { openDatabase } from '../../../../src/host/store/open-database.js';
import { isEventId, MAX_EVENT_ID_CHARS, newEventId } from '../../../../src/string/events/event-id.js';
import { followEvents, MAX_FOLLOW_BATCH } from '../../../../src/string/events/follow.js';
import { GroupCommit, MAX_GROUP } from '../../../../src/string/events/group-commit.js';
import {
  DELIVERY_NOTE_MS,
  Inbox,
  InboxFullError,
  MAX_INBOX_BYTES,
  MAX_INBOX_EVENTS,
} from '../../../../src/string/events/inbox.js';
import { MAX_EVENT_AGE_MS, Retention } from '../../../../src/string/events/retention.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let folder: string;
let path: string;
let inbox: Inbox;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inbox-'));
  path = join(folder, 'events.db');
  inbox = await Inbox.open(path);
});
afterEach(async () => {
  await inbox.close();
  removeFolder(folder);
});

const append = (text: string, agent = 'a') => inbox.append(agent, text, 'local-webhook');

test('an event is there as it came, newest first, and only for its agent', async () => {
  const first = await append('one');
  const second = await append('two\0 with a zero, ü and 𝒞');
  await append('of another', 'b');
  expect(first).toMatchObject({ agentId: 'a', source: 'local-webhook', status: 'pending', text: 'one' });
  expect(isEventId(first.id)).toBe(true);
  expect((await inbox.list('a', { all: false, limit: 50 })).events).toEqual([second, first]);
  expect(await inbox.list('a', { all: false, limit: 1 })).toEqual({ total: 2, events: [second] });
  expect(await inbox.read('b', first.id)).toBeUndefined();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('what was acknowledged stays so after a restart, once more is no error, and clear removes it', async () => {
  const event = await append('one');
  await append('two');
  expect(await inbox.ack('b', event.id)).toBe(false);
  expect([await inbox.ack('a', event.id), await inbox.ack('a', event.id)]).toEqual([true, true]);
  await inbox.close();
  inbox = await Inbox.open(path);
  expect(await inbox.read('a', event.id)).toMatchObject({ status: 'ack', ackedAt: expect.any(String) });
  expect(inbox.counts('a')).toMatchObject({ pending: 1, delivered: 0, ack: 1, unacked: 1 });
  expect(await inbox.clear('a', { all: false })).toBe(1);
  expect(await inbox.clear('a', { all: true })).toBe(1);
  expect(inbox.counts('a')).toEqual({
    pending: 0,
    delivered: 0,
    ack: 0,
    unacked: 0,
    oldest_unacked_at: null,
  });
});

test('ids that are none find nothing, whatever they hold', async () => {
  for (const id of ['', '../../etc/passwd', "' OR 1=1", `evt_a_${'x'.repeat(MAX_EVENT_ID_CHARS)}`, 'evt_A_x'])
    expect(await inbox.ack('a', id), id).toBe(false);
  expect(new Set(Array.from({ length: 1000 }, () => newEventId(1))).size).toBe(1000);
});

test('changes of one turn share a commit; one that throws takes its company with it and nobody else', async () => {
  await using database = await openDatabase({
    path: join(folder, 'x.db'),
    migrations: ['CREATE TABLE t (v INTEGER)'],
  });
  const commits = new GroupCommit(database);
  const insert = (v: number) => commits.run(() => database.run('INSERT INTO t VALUES (?)', v).changes);
  const good = await Promise.all(Array.from({ length: MAX_GROUP + 10 }, (_, i) => insert(i)));
  expect(good.every((changes) => changes === 1)).toBe(true);
  const bad = commits.run(() => {
    throw new Error('no');
  });
  const company = insert(-1);
  await expect(bad).rejects.toThrow('no');
  await expect(company).rejects.toThrow('no');
  expect(await insert(-2)).toBe(1);
  const last = insert(-3);
  commits.close();
  expect(await last).toBe(1);
  await expect(insert(-4)).rejects.toThrow('closed');
  expect(database.get('SELECT count(*) AS n FROM t')).toEqual({ n: MAX_GROUP + 12 });
});

test('an agent with too much waiting is refused, by number and by size, until it clears', async () => {
  expect([MAX_INBOX_BYTES, MAX_INBOX_EVENTS]).toEqual([1 << 30, 1_000_000]);
  await inbox.close();
  inbox = await Inbox.open(path, { maxEvents: 3, maxBytes: 10 });
  await Promise.all(['1', '2', '3'].map((text) => append(text)));
  await expect(append('4')).rejects.toThrow(InboxFullError);
  await append('12345', 'b');
  await expect(append('123456', 'b')).rejects.toThrow(InboxFullError);
  await inbox.close();
  inbox = await Inbox.open(path, { maxEvents: 3, maxBytes: 10 });
  await expect(append('4')).rejects.toThrow(InboxFullError);
  await inbox.clear('a', { all: true });
  await append('4');
});

test('a delivery is stamped once, soon', async () => {
  const event = await append('one');
  inbox.noteDelivered(event.id);
  const stamped = await until(async () => {
    const read = await inbox.read('a', event.id);
    return read?.status === 'delivered' && read;
  }, `the stamp after ${DELIVERY_NOTE_MS} ms`);
  inbox.noteDelivered(event.id);
  await inbox.close();
  inbox = await Inbox.open(path);
  expect(await inbox.read('a', event.id)).toEqual(stamped);
});

test('acknowledged events go after their time, others after a year', async () => {
  const settings = {
    redeliverGraceMs: 0,
    retentionMs: 60_000,
    sweepIntervalMs: 3_600_000,
    eventsPerSecond: 1,
  };
  const acked = await append('acked');
  await inbox.ack('a', acked.id);
  await append('pending');
  await using retention = new Retention(inbox, settings, openLog({ name: 'test', level: 'silent' }));
  await retention.sweep();
  expect(inbox.counts('a')).toMatchObject({ pending: 1, ack: 1 });
  await retention.sweep(Date.now() + 120_000);
  expect(inbox.counts('a')).toMatchObject({ pending: 1, ack: 0 });
  await retention.sweep(Date.now() + MAX_EVENT_AGE_MS + 1000);
  expect(inbox.counts('a')).toMatchObject({ pending: 0 });
});

/** Until the event `last`, which is not part of it. */
async function take(options: Partial<Parameters<typeof followEvents>[1]>): Promise<string[]> {
  const end = new AbortController();
  const texts: string[] = [];
  for await (const { event } of followEvents(inbox, {
    agentId: 'a',
    signal: end.signal,
    replay: true,
    redeliverGraceMs: 60_000,
    ...options,
  })) {
    if (event.text === 'last') end.abort();
    else texts.push(event.text);
  }
  return texts;
}

/** What is given of the events that are there, and no more: the next one is the last, and is acknowledged at once. */
async function takeAll(options: Partial<Parameters<typeof followEvents>[1]>): Promise<string[]> {
  const taken = take(options);
  const { id } = await append('last');
  const texts = await taken;
  await inbox.ack('a', id);
  return texts;
}

test('following begins with what waits, oldest first and in batches, then goes on with what comes', async () => {
  const many = Array.from({ length: MAX_FOLLOW_BATCH + 5 }, (_, i) => `${i}`);
  for (const text of many) await append(text);
  const following = take({});
  await append('live 1');
  await append('not for a', 'b');
  await append('live 2');
  const { id } = await append('last');
  expect(await following).toEqual([...many, 'live 1', 'live 2']);
  await inbox.ack('a', id);
  expect(await takeAll({ replay: false })).toEqual([]);
});

test('what was delivered comes again within the grace, what was acknowledged never, and Last-Event-ID says from where', async () => {
  const [one, two] = [await append('one'), await append('two'), await append('three')];
  await inbox.ack('a', two.id);
  inbox.noteDelivered(one.id);
  await until(async () => (await inbox.read('a', one.id))?.status === 'delivered', 'the stamp');
  expect(await takeAll({})).toEqual(['one', 'three']);
  expect(await takeAll({ redeliverGraceMs: -1000 })).toEqual(['three']);
  expect(await takeAll({ lastEventId: one.id })).toEqual(['three']);
  expect(await takeAll({ lastEventId: 'evt_unknown_x' })).toEqual(['one', 'three']);
});
