// Where a path is: `TARGET:path`, as scp has it. One rule for every command.

import { LocalError } from '../../base/errors.js';
import { ALIAS, LOCAL } from './target.js';

/** A path and the target it is on. */
export interface Place {
  /** Undefined: nothing was said. '': the chosen target was meant. */
  readonly alias: string | undefined;
  readonly path: string;
}

export class PlaceError extends LocalError {
  override readonly name = 'PlaceError';

  constructor(message: string) {
    super('usage', message);
  }
}

/**
 * What stands before the first colon is a target, unless a slash comes before it: `web:src/a`, `local:a`, `:src/a` (the
 * chosen target); `./a:b` and `/srv/a:b` are plain paths. A target without a path is its working folder.
 */
export function parsePlace(text: string): Place {
  if (text === '') throw new PlaceError('an empty path is no path; write "." for the working folder');
  if (text.includes('\0')) throw new PlaceError('a path cannot have a NUL in it');
  const [, alias, path = ''] = /^([^/:]*):(.*)$/s.exec(text) ?? [];
  if (alias === undefined) return { alias, path: text };
  if (alias !== '' && alias !== LOCAL && !ALIAS.test(alias)) {
    throw new PlaceError(
      `"${alias}" in "${text}" is no name of a target; for a file with a colon in its name write "./${text}"`,
    );
  }
  return { alias, path: path === '' ? '.' : path };
}

/** So that parsePlace reads the same place from it. */
export function formatPlace({ alias, path }: Place): string {
  if (alias !== undefined) return `${alias}:${path}`;
  return /^[^/]*:/.test(path) ? `./${path}` : path;
}
