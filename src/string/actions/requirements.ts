// Where a page says how it is set up: told whenever one of its actions fails.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWeb } from '../load/resolve-target.js';
import type { LoadedPage } from '../files/load-document.js';
import type { Failure } from '../result.js';
import type { Scene } from './scene.js';

const BESIDE = 'requirements.md';

/** As `/open` understands it. A page from the web has to name it; of a file the one beside it is found. */
export function requirementsOf({ page, path, remote }: LoadedPage): string | undefined {
  const named = page.directives.find(({ kind }) => kind === 'requirements');
  if (named !== undefined) return leadsToWeb(named.path) || !remote ? addressOf(named) : undefined;
  if (remote || path === undefined || path.endsWith(`/${BESIDE}`)) return undefined;
  return existsSync(join(dirname(path), BESIDE)) ? BESIDE : undefined;
}

/** What a stranger tells to be opened is no file of this machine. */
function leadsToWeb(path: string): boolean {
  return isWeb(path) || !/^(?:~|[a-z][a-z0-9+.-]*:)/iu.test(path);
}

function addressOf({ path, block }: { readonly path: string; readonly block?: string | undefined }): string {
  return block === undefined ? path : `${path}#${block}`;
}

export function addSetupHint({ loaded }: Scene, failure: Failure): Failure {
  const path = requirementsOf(loaded);
  if (path === undefined || failure.code === 'CANCELLED') return failure;
  const hint = `Setup info: /open ${path}`;
  if (failure.content !== undefined) return { ...failure, content: `${failure.content}\n\n${hint}` };
  return { ...failure, context: [...(failure.context ?? []), '', hint] };
}
