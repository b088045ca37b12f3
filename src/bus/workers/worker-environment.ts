// What a worker finds in its environment: ours, without what is the bus's own secret, and with what its pool says.

import type { PoolConfig } from '../config/schema.js';

/** What clients over TCP have to know; taken out of the environment before anything is started. */
export const TOKEN_VARIABLE = 'STDIO_BUS_TOKEN';

export function workerEnvironment(
  pool: Pick<PoolConfig, 'env'>,
  own: NodeJS.ProcessEnv,
): Record<string, string | undefined> {
  const env: Record<string, string | undefined> = { ...own, [TOKEN_VARIABLE]: undefined };
  for (const [name, value] of Object.entries(pool.env)) env[name] = value ?? undefined;
  return env;
}
