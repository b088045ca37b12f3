// The server of the same user that has a session, if one is alive.

import { connect, type Socket } from 'node:net';
import { errnoOf } from '../../base/errors.js';
import { isOwnSocket, isSessionId, openMeetingFolder } from './meeting-folder.js';

/** Undefined when nobody has the session; also when the folder is not what it should be, for then nobody is believed. */
export async function findSession(stateDir: string, sessionId: string): Promise<Socket | undefined> {
  return isSessionId(sessionId) ? await lookInFolder(stateDir, sessionId).catch(() => undefined) : undefined;
}

async function lookInFolder(stateDir: string, name: string): Promise<Socket | undefined> {
  using folder = openMeetingFolder(stateDir, { make: false });
  const path = `${folder.here}/${name}`;
  if (!isOwnSocket(path)) return undefined;
  const socket = await connectTo(path);
  return socket;
}

/** Undefined when nobody listens. Rejects when that cannot be told. */
export async function connectTo(path: string): Promise<Socket | undefined> {
  return await new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once('connect', () => {
      socket.removeAllListeners('error').on('error', () => {});
      resolve(socket);
    });
    socket.once('error', (error) => {
      if (['ECONNREFUSED', 'ENOENT'].includes(errnoOf(error) ?? '')) resolve(undefined);
      else reject(error);
    });
  });
}
