// jsonrpc: round trips through our peer on stdio, beside a child that gives back the bytes it gets.

import { isDeepStrictEqual } from 'node:util';
import { bundle } from '../harness/bundle.js';
import type { Reply } from '../harness/line-client.js';
import type { Role, Suite } from '../harness/types.js';
import { roundTripCases, type Server } from './round-trips.js';

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
  async prepare({ root, peers }, cleanup) {
    const servers = [
      await bundled(root, 'bare echo', 'limit', 'bench/bundled/bare-echo.ts'),
      await bundled(root, OURS, 'ours', 'bench/bundled/rpc-echo.ts'),
      await bundled(root, 'RpcPeer + Router', 'ours', 'bench/bundled/rpc-echo.ts', 'router'),
      await bundled(root, 'JSON.parse + stringify', 'reference', 'bench/bundled/json-echo.ts'),
      ...peers.map((peer) => server(peer.name, 'peer', peer.argv)),
    ];
    return roundTripCases(servers, 'echo', [{ contender: OURS, bound: BOUND }], cleanup);
  },
};

async function bundled(
  root: string,
  name: string,
  role: Role,
  entry: string,
  ...args: string[]
): Promise<Server> {
  return server(name, role, [process.execPath, await bundle(root, entry), ...args]);
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
