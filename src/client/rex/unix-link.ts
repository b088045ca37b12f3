// A link to a daemon of this machine: lines on its unix socket, as on stdio.

import { errnoOf, toError } from '../../base/errors.js';
import type { StreamLink } from '../../wire/transport/link.js';
import { connectSocket } from '../../wire/transport/socket.js';
import { expandHome, OnlineError } from './online.js';

export async function openUnixLink(
  path: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<StreamLink> {
  try {
    return await connectSocket(
      { path: expandHome(path) },
      options.signal === undefined ? {} : { signal: options.signal },
    );
  } catch (thrown) {
    options.signal?.throwIfAborted();
    const errno = errnoOf(thrown);
    const why =
      errno === 'ENOENT' || errno === 'ECONNREFUSED'
        ? `nobody listens on ${path}; start one with: rexd --unix ${path}`
        : `${path} cannot be connected to: ${errno ?? toError(thrown).message}`;
    throw new OnlineError('unreachable', why, thrown);
  }
}
