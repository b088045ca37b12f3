// Our standard input, to a process on the other side: byte by byte the same, at the pace at which it is read there.

import { setTimeout as delay } from 'node:timers/promises';
import { RpcError } from '../../base/errors.js';
import type { RemoteProcess } from '../../client/rex/remote-process.js';

/** Sent and not yet taken: enough to keep a far link busy, little enough to be forgotten. */
export const MAX_INPUT_IN_FLIGHT_BYTES = 1024 * 1024;
const FULL_PAUSE_MS = 250;
const TIMEOUT = -32003;
const RESOURCE_LIMIT = -32008;

export type Input = Pick<RemoteProcess, 'write' | 'endInput'>;

/** Resolves when the process has it all, or does not want more. */
export async function pumpInput(source: AsyncIterable<Buffer>, process: Input): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  let bytes = 0;
  let over = false;
  for await (const chunk of source) {
    while (bytes + chunk.length > MAX_INPUT_IN_FLIGHT_BYTES && inFlight.size > 0)
      await Promise.race(inFlight);
    if (over) return;
    bytes += chunk.length;
    const pass = async (): Promise<void> => {
      over = !(await send(process, chunk)) || over;
      bytes -= chunk.length;
      inFlight.delete(sent);
    };
    const sent = pass();
    inFlight.add(sent);
  }
  await Promise.all(inFlight);
  if (!over) await process.endInput().catch(() => {});
}

/** Whether the process may want more. */
async function send(process: Input, chunk: Buffer): Promise<boolean> {
  for (;;) {
    try {
      await process.write(chunk);
      return true;
    } catch (thrown) {
      const code = thrown instanceof RpcError ? thrown.code : undefined;
      if (code === TIMEOUT) return true; // taken, but not read yet: it waits there, in its turn
      if (code !== RESOURCE_LIMIT) return false; // it has ended, or closed its input
      await delay(FULL_PAUSE_MS);
    }
  }
}
