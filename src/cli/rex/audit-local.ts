// The audit log of this machine's rexd.

import { createReadStream, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../../rexd/config.js';

const LOOK_MS = 200;

export interface ReadOptions {
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** Oldest first; undefined when none is kept. */
export async function localAuditFiles(env: NodeJS.ProcessEnv): Promise<string[] | undefined> {
  const { audit } = await loadConfig(undefined, env);
  return audit.enabled ? rotatedFiles(audit.path, audit.keep) : undefined;
}

export function rotatedFiles(path: string, keep: number): string[] {
  return [...Array.from({ length: keep }, (_, i) => `${path}.${keep - i}`), path];
}

export async function* readLocalLog(
  files: readonly string[],
  { follow, signal }: ReadOptions,
): AsyncGenerator<Buffer, void> {
  let last: Place = { ino: 0, end: 0 };
  for (const file of files) last = yield* readFrom(file, 0);
  const current = files.at(-1) ?? '';
  if (!follow) return;
  for (;;) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    const now = statSync(current, { throwIfNoEntry: false });
    if (now === undefined) continue;
    // Rotated meanwhile: the rest of the old one is in its new place.
    if (last.ino !== 0 && now.ino !== last.ino) {
      yield* readFrom(`${current}.1`, last.end);
      last = yield* readFrom(current, 0);
    } else if (now.size > last.end) last = yield* readFrom(current, last.end);
  }
}

interface Place {
  readonly ino: number;
  readonly end: number;
}

/** Nothing of a file that is not there. */
async function* readFrom(file: string, start: number): AsyncGenerator<Buffer, Place> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return { ino: 0, end: 0 };
  let end = start;
  for await (const chunk of createReadStream(file, { start }) as AsyncIterable<Buffer>) {
    end += chunk.length;
    yield chunk;
  }
  return { ino: found.ino, end };
}
