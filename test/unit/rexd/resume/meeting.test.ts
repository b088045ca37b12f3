// Where servers of one user find each other's sessions: nobody else can listen, connect or lead astray.

import { once } from 'node:events';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../../src/base/ids.js';
import { Resource } from '../../../../src/base/resource.js';
import { findSession } from '../../../../src/rexd/resume/find-session.js';
import {
  MAX_MEETINGS,
  MAX_SWEPT,
  MeetingPlace,
  MIN_SWEPT_AGE_MS,
} from '../../../../src/rexd/resume/meeting-place.js';
import {
  beginsPlainly,
  MAX_FIRST_LINE_BYTES,
  relayedLink,
} from '../../../../src/rexd/resume/relayed-link.js';
import type { Session } from '../../../../src/rexd/sessions.js';
import type { StreamLink } from '../../../../src/wire/transport/link.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

class StandIn extends Resource {
  readonly id = newId('s');
  protected override release(): Promise<void> {
    return Promise.resolve();
  }
}
const session = (): Session => new StandIn() as unknown as Session;

let state: string;
let links: StreamLink[];
let place: MeetingPlace;
beforeEach(() => {
  // Longer than the path of a socket may be.
  state = join(mkdtempSync(join(tmpdir(), 'rexd-meeting-')), 'long'.repeat(20), 'name'.repeat(20));
  links = [];
  place = new MeetingPlace({ stateDir: state, onLink: (link) => links.push(link) });
});
afterEach(async () => {
  await place.close();
  removeFolder(join(state, '../..'));
});

const names = (): string[] => readdirSync(join(state, 'resume'));

test('a session is found by its id as long as it lives, through a socket that is the user’s alone', async () => {
  const [one, two] = [session(), session()];
  await place.announce(one);
  await place.announce(two);
  expect(lstatSync(join(state, 'resume')).mode & 0o777).toBe(0o700);
  for (const name of names()) expect(lstatSync(join(state, 'resume', name)).mode & 0o777).toBe(0o600);
  const socket = await findSession(state, two.id);
  socket?.write('hello');
  const link = await until(() => links[0], 'a link');
  expect(String((await once(link.input, 'data'))[0])).toBe('hello');
  await one.close();
  expect(await findSession(state, one.id)).toBeUndefined();
  socket?.destroy();
  await two.close();
  await place.close();
  expect(names()).toEqual([]);
});

test('what is no id of a session is not looked for', async () => {
  await place.announce(session());
  for (const id of ['..', '../x', names()[0] ?? '', '', 's_x/../y']) {
    expect(await findSession(state, id)).toBeUndefined();
  }
});

test('a folder that others can enter, a link to a folder and a link to a socket are not believed', async () => {
  const one = session();
  await place.announce(one);
  const folder = join(state, 'resume');
  const linked = newId('s');
  symlinkSync(join(folder, one.id), join(folder, linked));
  expect(await findSession(state, linked)).toBeUndefined();
  const plain = newId('s');
  writeFileSync(join(folder, plain), '');
  expect(await findSession(state, plain)).toBeUndefined();
  const other = join(state, 'other');
  mkdirSync(other);
  symlinkSync(folder, join(other, 'resume'));
  expect(await findSession(other, one.id)).toBeUndefined();
  chmodSync(folder, 0o755);
  expect(await findSession(state, one.id)).toBeUndefined();
  const late = new MeetingPlace({ stateDir: state, onLink: () => {} });
  await expect(late.announce(session())).rejects.toThrow('not a folder of our own');
  chmodSync(folder, 0o700);
  await one.close();
});

test('what servers that were killed have left is swept, MAX_SWEPT at a time', async () => {
  const folder = join(state, 'resume');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A file that is no socket stays: it is not ours to remove.
  writeFileSync(join(folder, 'a-note'), '');
  const dead = createServer();
  const short = mkdtempSync(join(tmpdir(), 'rexd-dead-'));
  dead.listen(join(short, 's'));
  await once(dead, 'listening');
  for (let i = 0; i < MAX_SWEPT + 4; i += 1) linkSync(join(short, 's'), join(folder, newId('s')));
  const madeAt = (Date.now() - MIN_SWEPT_AGE_MS) / 1000 - 1;
  utimesSync(join(short, 's'), madeAt, madeAt);
  await new Promise((resolve) => dead.close(resolve));
  // One that nobody answers yet: its server is just starting.
  const starting = createServer();
  starting.listen(join(short, 't'));
  await once(starting, 'listening');
  const young = newId('s');
  linkSync(join(short, 't'), join(folder, young));
  await new Promise((resolve) => starting.close(resolve));
  await place.announce(session());
  // Some stay: those beyond the cap, and as many more as the names that were looked at in vain.
  await until(() => names().length <= 4 + 4 + 4, 'most of them swept');
  expect(names().length).toBeGreaterThanOrEqual(4 + 4);
  expect(names()).toContain(young);
  removeFolder(short);
});

test('MAX_MEETINGS connections are served at the same time, one more is closed', async () => {
  const one = session();
  await place.announce(one);
  const sockets: (Socket | undefined)[] = [];
  for (let i = 0; i < MAX_MEETINGS; i += 1) sockets.push(await findSession(state, one.id));
  await until(() => links.length === MAX_MEETINGS, 'all of them');
  const late = await findSession(state, one.id);
  if (late !== undefined) await once(late.resume(), 'end');
  late?.destroy();
  expect(links).toHaveLength(MAX_MEETINGS);
  for (const socket of sockets) socket?.destroy();
  await one.close();
});

const request = (method: string, id = 1): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { session_id: 's_1' } })}\n`;

test('only a first request to resume makes a link look elsewhere, and what nobody has is served here', async () => {
  expect(beginsPlainly(Buffer.from(request('session.open')))).toBe(true);
  expect(beginsPlainly(Buffer.from(request('session.open').slice(0, 20)))).toBe(false);
  expect(beginsPlainly(Buffer.from(request('session.resume')))).toBe(false);
  expect(beginsPlainly(undefined)).toBe(false);
  const asked: string[] = [];
  for (const [first, looksFor] of [
    [request('session.open') + request('session.resume'), []],
    [request('session.resume') + request('fs.read', 2), ['s_1']],
    ['session.resume is no JSON\n', []],
    ['x'.repeat(MAX_FIRST_LINE_BYTES), []],
  ] as const) {
    asked.length = 0;
    const [near, far] = linkedPair();
    const link = relayedLink(near, (id) => {
      asked.push(id);
      return Promise.resolve(undefined);
    });
    let got = '';
    link.input.on('data', (chunk) => (got += chunk.toString()));
    const ended = new Promise<void>((resolve) => link.input.on('end', resolve));
    for (const piece of [first.slice(0, 7), first.slice(7)]) far.output.write(piece);
    far.output.end();
    await ended;
    expect([got === first, asked]).toEqual([true, looksFor]);
    await link.close();
    await far.close();
  }
});
