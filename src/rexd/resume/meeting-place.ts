// Where another server of the same user finds the sessions of this one: it was started for a client whose old connection
// led here, and brings the new one.

import { chmodSync, linkSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { newId } from '../../base/ids.js';
import { Resource } from '../../base/resource.js';
import { closeDuplex } from '../../wire/transport/close-stream.js';
import type { StreamLink } from '../../wire/transport/link.js';
import { listenOn } from '../../wire/transport/socket-path.js';
import type { Session } from '../sessions.js';
import { connectTo } from './find-session.js';
import { type MeetingFolder, isOwnSocket, openMeetingFolder } from './meeting-folder.js';

/** Connections at the same time; one more is closed as soon as it is made. */
export const MAX_MEETINGS = 16;
/** Sockets of servers that were killed, looked at when one begins to listen; the next one looks at more. */
export const MAX_SWEPT = 64;
/** A socket is made before it is listened at: one that is younger may be of a server that is just starting. */
export const MIN_SWEPT_AGE_MS = 10_000;

export interface MeetingOptions {
  readonly stateDir: string;
  readonly onLink: (link: StreamLink) => void;
}

export class MeetingPlace extends Resource {
  readonly #options: MeetingOptions;
  #listening: Promise<Listening> | undefined;

  constructor(options: MeetingOptions) {
    super();
    this.#options = options;
  }

  /** From here on the session is found here, until it ends. Rejects when the folder is not ours, or cannot be written. */
  async announce(session: Session): Promise<void> {
    this.#listening ??= listen(this.#options);
    const { folder, name } = await this.#listening.catch((thrown: unknown) => {
      this.#listening = undefined;
      throw thrown;
    });
    const path = `${folder.here}/${session.id}`;
    linkSync(`${folder.here}/${name}`, path); // one socket by many names
    const remove = (): void => rmSync(path, { force: true });
    if (session.closing) remove();
    else session.signal.addEventListener('abort', remove, { once: true });
  }

  protected override async release(): Promise<void> {
    const listening = await this.#listening?.catch(() => undefined);
    if (listening === undefined) return;
    const { folder, name, server, sockets } = listening;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
    rmSync(`${folder.here}/${name}`, { force: true });
    folder[Symbol.dispose]();
  }
}

interface Listening {
  readonly server: Server;
  readonly folder: MeetingFolder;
  readonly name: string;
  readonly sockets: ReadonlySet<Socket>;
}

async function listen({ stateDir, onLink }: MeetingOptions): Promise<Listening> {
  const folder = openMeetingFolder(stateDir, { make: true });
  const name = newId('r');
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // told by the link
    onLink({ input: socket, output: socket, name: 'resumed', close: () => closeDuplex(socket) });
  });
  server.maxConnections = MAX_MEETINGS;
  try {
    await listenOn(server, { path: `${folder.here}/${name}` });
    chmodSync(`${folder.here}/${name}`, 0o600); // nobody else can reach it before: the folder is ours alone
  } catch (thrown) {
    folder[Symbol.dispose]();
    throw thrown;
  }
  server.unref(); // what keeps a server alive are its sessions
  void sweep(folder, name);
  return { server, folder, name, sockets };
}

/** A server that was killed has left its sockets, which nobody answers. */
async function sweep(folder: MeetingFolder, own: string): Promise<void> {
  try {
    const { ino } = lstatSync(`${folder.here}/${own}`);
    for (const name of readdirSync(folder.here).slice(0, MAX_SWEPT)) {
      const path = `${folder.here}/${name}`;
      if (!isOwnSocket(path)) continue;
      const stat = lstatSync(path);
      if (stat.ino === ino || Date.now() - stat.mtimeMs < MIN_SWEPT_AGE_MS) continue;
      const socket = await connectTo(path);
      socket?.destroy();
      if (socket === undefined) rmSync(path, { force: true });
    }
  } catch {
    // The folder was closed meanwhile, or cannot be read: the next server tries again.
  }
}
