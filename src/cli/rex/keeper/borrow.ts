// A connection that a keeper has open already.

import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { errnoOf, LocalError } from '../../../base/errors.js';
import { ConnectError } from '../../../client/rex/explain-failure.js';
import type { SessionFacts } from '../../../client/rex/rex-client.js';
import type { Link } from '../../../wire/transport/link.js';
import { readFirstLine } from './first-line.js';
import type { KeeperSpec } from './spec.js';
import { ANSWER_MS, HEARD_MS, type Hello, type Reply, STILL_WANTED_MS } from './words.js';

export interface Borrowed {
  readonly link: Link;
  /** Open already, and closed by the keeper when the link is. */
  readonly session: SessionFacts;
}

/** `absent` when nobody keeps one. Rejects with a ConnectError when the keeper cannot get through either. */
export async function borrowLink(spec: KeeperSpec): Promise<Borrowed | 'absent' | 'none'> {
  const until = Date.now() + STILL_WANTED_MS;
  const asked = await askKeeper(spec.socket, { want: 'link', key: spec.key, until });
  if (asked === 'silent') rmSync(spec.socket, { force: true }); // it ends itself when it finds that out
  if (asked === undefined || asked === 'silent') return 'absent';
  const { socket, reply } = asked;
  if ('session' in reply) return { link: linkOver(socket), session: reply.session };
  socket.destroy();
  if ('failed' in reply)
    throw new ConnectError(
      reply.failed.reason,
      reply.failed.message,
      new LocalError('keeper', 'by a keeper'),
    );
  return 'none';
}

/** Undefined when nobody listens there; `silent` when somebody does who does not answer. */
export async function askKeeper(
  path: string,
  hello: Hello,
): Promise<{ socket: Socket; reply: Reply } | 'silent' | undefined> {
  const socket = connect({ path });
  let silent = false;
  socket.on('error', () => {}); // told by the promise below, or by the link
  socket.setTimeout(HEARD_MS, () => {
    silent = true;
    socket.destroy();
  });
  socket.write(`${JSON.stringify(hello)}\n`);
  try {
    let reply = JSON.parse(await readFirstLine(socket)) as Reply;
    if ('wait' in reply) {
      socket.setTimeout(ANSWER_MS);
      reply = JSON.parse(await readFirstLine(socket)) as Reply;
    }
    socket.setTimeout(0);
    return { socket, reply };
  } catch (thrown) {
    socket.destroy();
    if (silent) return 'silent';
    if (thrown instanceof LocalError || thrown instanceof SyntaxError || errnoOf(thrown) !== undefined)
      return undefined;
    throw thrown;
  }
}

/** There is nobody to linger for: the keeper knows from the end of the socket that we are done. */
function linkOver(socket: Socket): Link {
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    if (!socket.destroyed && socket.writableLength > 0)
      await new Promise<void>((resolve) => socket.once('close', resolve).end(() => socket.destroy()));
    socket.destroy();
  };
  return { input: socket, output: socket, name: 'kept', close: () => (closing ??= close()) };
}
