// jsonrpc: round trips through our peer on stdio, beside a child that gives back the bytes it gets.

import { isDeepStrictEqual } from 'node:util';
import { bundle } from '../harness/bundle.js';
import type { Reply } from '../harness/line-client.js';
import type { Role, Suite } from '../harness/types.js';
import { roundTripCases, type Server } from './round-trips.js';

const BARE_ECHO = new URL('../bundled/bare-echo.ts', import.meta.url);
const RPC_ECHO = new URL('../bundled/rpc-echo.ts', import.meta.url);
const JSON_ECHO = new URL('../bundled/json-echo.ts', import.meta.url);
const OURS = 'RpcPeer';
const BOUND = 0.5;
/** About what a tool call carries. */
const PARAMS = {
  session_id: 's_0k3v9q2c7m8t5x1f6h4j2n0p9r',
  path: 'src/wire/ndjson/line-splitter.ts',
  offset: 4096,
  flags: [true, false, null],
};

export const jsonrpcSuite: Suite = {
  name: 'jsonrpc',
  summary: 'JSON-RPC round trips over pipes, vs a bare echo over the same pipes',
  peerSpeaks: 'echo',
  async prepare({ peers }, cleanup) {
    const servers = [
      await bundled('bare echo', 'limit', BARE_ECHO),
      await bundled(OURS, 'ours', RPC_ECHO),
      await bundled('RpcPeer + Router', 'ours', RPC_ECHO, 'router'),
      await bundled('JSON.parse + stringify', 'reference', JSON_ECHO),
      ...peers.map((peer) => server(peer.name, 'peer', peer.argv)),
    ];
    return roundTripCases(servers, 'echo', [{ contender: OURS, bound: BOUND }], cleanup);
  },
};

async function bundled(name: string, role: Role, entry: URL, ...args: string[]): Promise<Server> {
  return server(name, role, [process.execPath, await bundle(entry), ...args]);
}

function server(name: string, role: Role, argv: readonly string[]): Server {
  return {
    name,
    role,
    argv,
    greet: () => ({ method: 'echo', params: PARAMS }),
    // The bare echo gives the request itself back, everyone else its params as the result.
    accepts: (reply: Reply & { params?: unknown }) =>
      isDeepStrictEqual(role === 'limit' ? reply.params : reply.result, PARAMS),
  };
}
