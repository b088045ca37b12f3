// rexd: round trips of session.info through the built daemon, beside any peer that speaks REXD on stdio.

import { bundle } from '../harness/bundle.js';
import type { Suite } from '../harness/types.js';
import { builtRexd, openSession } from './rexd-session.js';
import { roundTripCases, type Server } from './round-trips.js';

export const rexdSuite: Suite = {
  name: 'rexd',
  summary: 'session.info round trips of the built rexd, vs a bare echo over the same pipes',
  peerSpeaks: 'rexd',
  async prepare({ root, peers }, cleanup) {
    const rexd = builtRexd(root);
    const echo = await bundle(new URL('../bundled/bare-echo.ts', import.meta.url));
    const servers = [
      bareEcho(echo),
      daemon('rexd', 'ours', rexd),
      ...peers.map((peer) => daemon(peer.name, 'peer', peer.argv)),
    ];
    return roundTripCases(servers, 'session.info', [], cleanup);
  },
};

function daemon(name: string, role: 'ours' | 'peer', argv: readonly string[]): Server {
  return {
    name,
    role,
    argv,
    async greet(client) {
      return { method: 'session.info', params: { session_id: await openSession(name, client) } };
    },
    accepts: (reply) => reply.result !== undefined,
  };
}

/** Echoes a request as long as a real one, so that the same number of bytes goes out. */
function bareEcho(path: string): Server {
  const params = { session_id: 's_'.padEnd(28, '0') };
  return {
    name: 'bare echo',
    role: 'limit',
    argv: [process.execPath, path],
    greet: () => ({ method: 'session.info', params }),
    accepts: () => true,
  };
}
