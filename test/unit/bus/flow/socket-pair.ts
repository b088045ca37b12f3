// Both ends of a real socket.

import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer, type ServerOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../../helpers/remove-folder.js';

interface SocketPair extends AsyncDisposable {
  /** The end that was accepted, with the options given. */
  readonly left: Socket;
  readonly right: Socket;
}

export async function socketPair(options: ServerOpts): Promise<SocketPair> {
  const folder = await mkdtemp(join(tmpdir(), 'bus-pair-'));
  const server = createServer(options);
  server.listen(join(folder, 's'));
  await once(server, 'listening');
  const right = connect(join(folder, 's'));
  const [left] = (await once(server, 'connection')) as [Socket];
  return {
    left,
    right,
    async [Symbol.asyncDispose]() {
      left.destroy();
      right.destroy();
      server.close();
      removeFolder(folder);
    },
  };
}
