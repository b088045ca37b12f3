// What the round-trip suites share: contenders behind the same raw client, one at a time and many in flight.

import { BenchChild } from '../harness/child.js';
import type { Cleanup } from '../harness/cleanup.js';
import { childCpuMs, ownCpuMs } from '../harness/cpu-time.js';
import { LineClient, type Reply } from '../harness/line-client.js';
import { RequestPool } from '../harness/request-pool.js';
import type { Case, Contender, Role, Target } from '../harness/types.js';

const IN_FLIGHT = 64;

export interface Server {
  readonly name: string;
  readonly role: Role;
  readonly argv: readonly string[];
  /** Whatever has to be said first; gives the request that is then repeated. */
  greet(
    client: LineClient,
  ): Promise<{ method: string; params: unknown }> | { method: string; params: unknown };
  accepts(reply: Reply): boolean;
}

interface Connected extends Pick<Server, 'name' | 'role'> {
  readonly client: LineClient;
  readonly pool: RequestPool;
  readonly pid: number;
}

export async function roundTripCases(
  servers: readonly Server[],
  what: string,
  /** Judged one at a time only: with many in flight a bare echo moves blocks of bytes and knows no messages at all. */
  targets: readonly Target[],
  cleanup: Cleanup,
): Promise<Case[]> {
  const connected: Connected[] = [];
  for (const server of servers) connected.push(await connect(server, cleanup));
  return [1, IN_FLIGHT].map((inFlight) => ({
    name: inFlight === 1 ? `${what}, one at a time` : `${what}, ${inFlight} in flight`,
    measure: 'rate',
    unit: 'per second',
    scale: 1,
    contenders: connected.map((each) => contenderOf(each, inFlight)),
    targets: inFlight === 1 ? targets : [],
  }));
}

async function connect(server: Server, cleanup: Cleanup): Promise<Connected> {
  const { name, role } = server;
  const child = cleanup.use(await BenchChild.start(name, server.argv));
  const client = new LineClient(child);
  const { method, params } = await server.greet(client);
  const pool = new RequestPool(method, params);
  await client.verify(pool, (reply) => server.accepts(reply));
  return { name, role, client, pool, pid: child.pid };
}

function contenderOf({ name, role, client, pool, pid }: Connected, inFlight: number): Contender {
  return {
    name,
    role,
    run: (ops) => client.exchange(pool, ops, inFlight),
    cpuMs: () => ownCpuMs() + childCpuMs(pid),
  };
}
