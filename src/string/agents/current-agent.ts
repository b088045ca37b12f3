// Which agent clients mean that do not say: `currentAgent` in a config.json that may hold more than that.

import * as z from 'zod/mini';
import { JsonStore } from '../../host/store/json-store.js';

const ClientConfig = z.looseObject({ currentAgent: z.optional(z.string()) });

/** Everything else in the file stays. */
export async function writeCurrentAgent(file: string, id: string): Promise<void> {
  const store = new JsonStore<z.output<typeof ClientConfig>>({
    path: file,
    schema: ClientConfig,
    initial: () => ({}),
  });
  await store.update((config) => ({ ...config, currentAgent: id }));
}
