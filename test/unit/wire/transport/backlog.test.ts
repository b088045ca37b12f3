// A burst of connections to a listener that is busy with something else.

import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listenSocket } from '../../../../src/wire/transport/socket.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const BURST = 700;

test('more come at once than Node alone would let wait, and none is refused', async (context) => {
  const most = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  if (most < BURST) context.skip(`this system lets only ${most} wait`);
  const folder = mkdtempSync(join(tmpdir(), 'hawser-backlog-'));
  try {
    const path = join(folder, 'socket');
    await using listener = await listenSocket({ path }, { onLink: () => {}, maxConnections: BURST });
    // All before this turn ends, and with it the first chance to accept one.
    const sockets = Array.from({ length: BURST }, () => connect(path));
    const outcomes = await Promise.allSettled(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.on('error', () => {}).destroy();
    expect(listener.address).toEqual({ path });
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
  } finally {
    removeFolder(folder);
  }
});
