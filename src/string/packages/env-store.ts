// `$NAME` values of apps: kept in the agent's home, for an app or for one of its configs.

import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { isInside } from '../../host/files/is-inside.js';
import { JsonStore } from '../../host/store/json-store.js';
import type { Topic } from '../topic.js';

/** Of all values of one app or config: keys and addresses, not documents. */
export const MAX_ENV_BYTES = 256 * 1024;

const APPS_FOLDER = 'apps';
const ENV_FILE = 'env.json';

export type AppTopic = Extract<Topic, { type: 'app' }>;

/** `weather`, or `weather:korea`. */
export function scopeOf({ app, config }: AppTopic): string {
  return config === undefined ? app : `${app}:${config}`;
}

/** Whether values are kept in that file: they are shown masked, and never by accident. */
export function isEnvFile(home: string, path: string): boolean {
  return basename(path) === ENV_FILE && isInside(path, join(home, APPS_FOLDER));
}

/** What the topic sees: the values of its config over those of its app. */
export async function readEnv(home: string, topic: AppTopic): Promise<Record<string, string>> {
  const shared = await storeOf(home, { ...topic, config: undefined }).read();
  if (topic.config === undefined) return shared;
  return { ...shared, ...(await storeOf(home, topic).read()) };
}

export async function writeEnv(
  home: string,
  topic: AppTopic,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  await storeOf(home, topic).update((before) => ({ ...before, ...values }));
}

function storeOf(
  home: string,
  { app, config }: { readonly app: string; readonly config?: string | undefined },
): JsonStore<Record<string, string>> {
  return new JsonStore({
    path: join(home, APPS_FOLDER, app, ...(config === undefined ? [] : [config]), ENV_FILE),
    schema: z.record(z.string(), z.string()),
    initial: () => ({}),
    maxBytes: MAX_ENV_BYTES,
  });
}
