// A port on loopback for a server that cannot choose one itself, which nobody else is given meanwhile.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Below are those of well-known services. */
const LOWEST = 10_000;
/** Each worker of a run has ports of its own, so that two never try the same one between its choice and its use. */
const WORKERS = 16;

let next: number | undefined;

/** Never one that the system hands out by itself: until the server listens, any socket of a neighbour could get it. */
export async function freePort(): Promise<number> {
  const share = Math.floor((firstOfSystem() - LOWEST) / WORKERS);
  const first = LOWEST + (Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS) * share;
  next ??= randomInt(share); // beside another run on the same machine
  for (let tried = 0; tried < share; tried++) {
    const port = first + (next++ % share);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${first} on is free`);
}

function firstOfSystem(): number {
  const [first] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t');
  return Math.max(Number(first), LOWEST + 100 * WORKERS);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
