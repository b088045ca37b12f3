// The tools of this machine: outside of what an agent may reach, but for every agent to read and to run.

import { readFileSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { errnoOf } from '../../base/errors.js';
import { parsePage } from '../document/page.js';
import { type LoadedPage, MAX_DOCUMENT_BYTES } from '../files/load-document.js';

/** Who put it there may do anything on this machine: no agent can. */
export function loadShared(path: string): LoadedPage | undefined {
  try {
    if (statSync(path).size > MAX_DOCUMENT_BYTES) return undefined;
    const page = parsePage(readFileSync(path, 'utf8'));
    return { ok: true, uri: pathToFileURL(path).href, path, remote: false, page, source: page.source };
  } catch (thrown) {
    if (errnoOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
