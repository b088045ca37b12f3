// model.add: several files of a repository at once, told of as they come.

import { newAbort } from '../../base/abort.js';
import { settleAll } from '../../base/settle-all.js';
import type { CallContext } from '../call.js';
import { HugindError } from '../errors.js';
import { downloadFile } from './download.js';
import type { Hub } from './hub.js';
import { type HubFile, listHubFiles } from './listing.js';
import type { ModelStore } from './store.js';
import { partsOfSplit } from './split-files.js';

/** Files that one request fetches at the same time: more would share the same line. */
export const MAX_DOWNLOADS_AT_ONCE = 4;
/** Progress of a file is told no more often; its beginning and its end always are. */
export const PROGRESS_EVERY_MS = 100;

export interface AddOptions {
  readonly hub: Hub;
  readonly store: ModelStore;
  readonly repo: string;
  readonly files: readonly string[];
}

/** Gives the names of all that was fetched, parts of split models included. */
export async function addFiles(options: AddOptions, ctx: CallContext): Promise<string[]> {
  const { hub, store, repo } = options;
  const listing = await listHubFiles(hub, repo, ctx.signal);
  const wanted = new Map<string, HubFile>();
  for (const name of options.files)
    for (const each of partsOfSplit(name)) {
      const file = listing.get(each);
      if (file === undefined) throw new HugindError('not_found', `File '${each}' not found in repo ${repo}`);
      wanted.set(each, file);
    }
  const places = new Map([...wanted.keys()].map((name) => [name, store.placeOf(repo, name)]));
  await runTogether([...wanted.values()], ctx.signal, async (file, signal) => {
    const named = `repo=${repo} file=${file.name}`;
    ctx.emit('status', { message: `download.start ${named}` });
    const tell = throttle(({ downloaded, total }) =>
      ctx.emit('progress', { repo, file: file.name, downloaded, ...(total !== undefined && { total }) }),
    );
    const path = places.get(file.name) ?? '';
    await downloadFile({ hub, repo, file, path, signal, onProgress: tell });
    ctx.emit('status', { message: `download.finish ${named}` });
  });
  return [...wanted.keys()];
}

/** The first that fails calls the others off: what they have got is kept. */
async function runTogether(
  files: readonly HubFile[],
  outer: AbortSignal,
  run: (file: HubFile, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const own = newAbort();
  const follow = (): void => own.abort(outer.reason);
  outer.addEventListener('abort', follow, { once: true });
  const queue = [...files];
  let failure: unknown;
  const lanes = Array.from({ length: Math.min(MAX_DOWNLOADS_AT_ONCE, files.length) }, async () => {
    for (let file = queue.shift(); file !== undefined && !own.signal.aborted; file = queue.shift())
      await run(file, own.signal).catch((thrown: unknown) => {
        failure ??= thrown;
        own.abort(thrown);
      });
  });
  try {
    if (outer.aborted) follow();
    await settleAll(lanes);
  } finally {
    outer.removeEventListener('abort', follow);
  }
  outer.throwIfAborted();
  if (failure !== undefined) throw failure;
}

interface Step {
  readonly downloaded: number;
  readonly total: number | undefined;
}

function throttle(tell: (step: Step) => void): (downloaded: number, total: number | undefined) => void {
  let lastMs = -Infinity;
  let lastTold = -1;
  return (downloaded, total) => {
    const now = performance.now();
    const isEnd = downloaded === total;
    if (downloaded === lastTold || (!isEnd && now - lastMs < PROGRESS_EVERY_MS)) return;
    lastMs = now;
    lastTold = downloaded;
    tell({ downloaded, total });
  };
}
