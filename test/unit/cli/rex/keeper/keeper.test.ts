// The caps of a keeper, with a server that says yes to everything.

import { existsSync, mkdtempSync } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askKeeper, borrowLink } from '../../../../../src/cli/rex/keeper/borrow.js';
import { MAX_GREETING_BYTES, readFirstLine } from '../../../../../src/cli/rex/keeper/first-line.js';
import {
  KEEP_IDLE_MS,
  Keeper,
  MAX_KEPT_LINKS,
  MAX_SPARES,
} from '../../../../../src/cli/rex/keeper/keeper.js';
import { KeptCall } from '../../../../../src/cli/rex/keeper/kept-call.js';
import { MAX_USES, Spare } from '../../../../../src/cli/rex/keeper/spare.js';
import type { KeeperSpec } from '../../../../../src/cli/rex/keeper/spec.js';
import { ANSWER_MS, HEARD_MS, STILL_WANTED_MS } from '../../../../../src/cli/rex/keeper/words.js';
import { PERSIST_SECONDS } from '../../../../../src/client/rex/ssh-command.js';
import { until } from '../../../../helpers/wait.js';
import { removeFolder } from '../../../../helpers/remove-folder.js';

/** A line in, an answer out; cheap enough to be started by the dozen. */
const SAYS_YES = `while read -r line; do id=\${line#*'"id":"'}; id=\${id%%'"'*}
printf '{"jsonrpc":"2.0","id":"%s","result":{"protocol":"rexd/1","session_id":"s","limits":{}}}\\n' "$id"; done`;

let folder: string;
let spec: KeeperSpec;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hawser-keeper-'));
  const open = { client_name: 'rex' };
  const socket = join(folder, 'keeper');
  spec = {
    alias: 'x',
    command: ['sh', '-c', SAYS_YES],
    open,
    remote: false,
    compression: 'off',
    socket,
    key: 'k',
  };
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  removeFolder(folder);
});

/** Keeper and callers are one process here: a pause of it is not silence of the other, and makes nobody late. */
function takeAllTheTime(): void {
  vi.spyOn(Socket.prototype, 'setTimeout').mockReturnThis();
  vi.useFakeTimers({ toFake: ['Date'] });
}

test('beyond MAX_KEPT_LINKS a call is told to do without, and of what comes back MAX_SPARES are kept', async () => {
  takeAllTheTime();
  await using keeper = await Keeper.open(spec);
  void keeper;
  const calls: Awaited<ReturnType<typeof borrowLink>>[] = [];
  for (let i = 0; i < MAX_KEPT_LINKS; i++) calls.push(await borrowLink(spec));
  expect(calls.every((call) => typeof call === 'object')).toBe(true);
  expect(await borrowLink(spec)).toBe('none');
  for (const call of calls) if (typeof call === 'object') await call.link.close();
  await until(async () => (await idleIn(spec)) === MAX_SPARES, 'connections to come back');
  expect(typeof (await borrowLink(spec).then(closed))).toBe('object');
});

test('a call with another key gets nothing', async () => {
  takeAllTheTime();
  await using keeper = await Keeper.open(spec);
  void keeper;
  expect(await borrowLink({ ...spec, key: 'other' })).toBe('none');
});

test('a server is used MAX_USES times, then no more', async () => {
  const spare = await Spare.open(spec);
  let uses = 1;
  while (await spare.renew()) uses += 1;
  expect(uses).toBe(MAX_USES);
  await spare.link.close();
});

test('a connection is kept as long as ssh keeps its own', () => {
  expect(KEEP_IDLE_MS).toBe(PERSIST_SECONDS * 1000);
});

test('a first line beyond MAX_GREETING_BYTES is refused', async () => {
  const heard = new Promise<Promise<string>>((resolve) => {
    const server = createServer((socket: Socket) => {
      server.close();
      socket.on('error', () => {});
      resolve(readFirstLine(socket).finally(() => socket.destroy()));
    }).listen(spec.socket, () => {
      void askKeeper(spec.socket, { want: 'link', key: 'k'.repeat(MAX_GREETING_BYTES), until: 0 });
    });
  });
  await expect(heard.then(async (line) => await line)).rejects.toThrow('too long');
});

test('a keeper that says nothing within HEARD_MS is done without, and one that hangs up', async () => {
  expect(ANSWER_MS).toBeGreaterThan(15_000); // ssh gives up before
  expect(HEARD_MS - STILL_WANTED_MS).toBeGreaterThan(100); // what it does it can still tell
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(spec.socket);
  try {
    const refused = new KeptCall(spec, { argv: ['true'] }, () => undefined, 60_000);
    await until(() => sockets.length === 1, 'the first call');
    sockets[0]?.destroy();
    expect(await refused.begun).toBe('absent');
    expect(await askKeeper(spec.socket, { want: 'status' })).toBe('silent');
    const silent = new KeptCall(spec, { argv: ['true'] }, () => undefined, 50);
    expect(await silent.begun).toBe('absent');
    expect(existsSync(spec.socket)).toBe(false); // for the next one, and a sign for this one to end
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

test('what a keeper hears too late it does not do', async () => {
  takeAllTheTime();
  await using keeper = await Keeper.open(spec);
  void keeper;
  const late = await askKeeper(spec.socket, {
    want: 'run',
    key: spec.key,
    until: Date.now() - 1,
    start: { argv: ['touch', join(spec.socket, '../late')] },
  });
  expect(late).toMatchObject({ reply: { none: true } });
});

async function idleIn({ socket }: KeeperSpec): Promise<number | undefined> {
  const answer = await askKeeper(socket, { want: 'status' });
  if (typeof answer !== 'object') return undefined;
  answer.socket.destroy();
  return 'status' in answer.reply ? answer.reply.status.idle : undefined;
}

async function closed<T>(call: T): Promise<T> {
  if (typeof call === 'object' && call !== null && 'link' in call)
    await (call.link as { close(): Promise<void> }).close();
  return call;
}
