// The files an agent may reach: its home and the paths it was given, whatever links lie in between.

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toError } from '../../base/errors.js';
import {
  AccessDeniedError,
  ForbiddenPathError,
  NotADirectoryError,
  NotAFileError,
  NotFoundError,
  TooLargeError,
} from '../../host/files/errors.js';
import { FilesError, InvalidPathError } from '../../host/files/path-errors.js';
import { isInside } from '../../host/files/is-inside.js';
import { InvalidRootError, Roots } from '../../guard/roots.js';
import { type Failure, fail } from '../result.js';
import type { AgentPlace } from '../services.js';
import type { Session } from '../session/session.js';

export class AgentFiles {
  readonly #agent: AgentPlace;
  /** There are no walls: whoever runs the daemon has taken them down. */
  readonly isFull: boolean;

  constructor(agent: AgentPlace, { full = false }: { readonly full?: boolean } = {}) {
    this.#agent = agent;
    this.isFull = full;
  }

  /** Looked up anew each time: a home may be made, and an allowed path mounted, while the daemon runs. */
  roots(): Roots {
    if (this.isFull) return Roots.open(['/'], { allowFilesystemRoot: true });
    const { home, allowedPaths } = this.#agent;
    const there = [home, ...allowedPaths].filter((root) => isUsable(root));
    return Roots.open(there);
  }

  /** `~/x` from home, `/x` as it is, the rest from where the topic is. */
  resolve(session: Session, target: string): string {
    if (target === '~' || target.startsWith('~/'))
      return this.roots().resolve(`${this.#agent.home}${target.slice(1)}`);
    return this.roots().resolve(target === '' ? '.' : target, this.baseOf(session));
  }

  /** The folder of the document, else the directory last opened, else home. */
  baseOf(session: Session): string {
    const path = session.document === undefined ? undefined : pathOfUri(session.document.uri);
    return path === undefined ? (session.cwd ?? this.#agent.home) : dirname(path);
  }

  /** Where commands run: the directory last opened, else the folder of the document, else home. */
  workingDirectory(session: Session): string {
    return session.cwd ?? this.baseOf(session);
  }

  /** Below home as `~/…`, elsewhere as it is. */
  shorten(path: string): string {
    const { home } = this.#agent;
    if (path === home) return '~';
    return isInside(path, home) ? `~${path.slice(home.length)}` : path;
  }

  notFound(path: string, ...context: string[]): Failure {
    return { ...fail('NOT_FOUND', `File not found: ${path}`, ...context), missing: this.shorten(path) };
  }

  /** What an agent is told of a file that it cannot have. Throws what is no failure of a file. */
  explain(thrown: unknown, path: string): Failure {
    if (!(thrown instanceof FilesError)) throw toError(thrown);
    if (thrown instanceof ForbiddenPathError) {
      const allowed = [this.#agent.home, ...this.#agent.allowedPaths].join(', ');
      return fail('FILE_NOT_ALLOWED', `Outside of what this agent may reach: ${path}`, `allowed: ${allowed}`);
    }
    if (thrown instanceof NotFoundError) return this.notFound(path, 'Recovery: /ls shows what is there.');
    if (thrown instanceof NotADirectoryError) return this.notFound(path);
    if (thrown instanceof InvalidPathError) return fail('INVALID_TARGET', `${thrown.message}: ${path}`);
    if (thrown instanceof NotAFileError) return fail('INVALID_TARGET', `Not a regular file: ${path}`);
    if (thrown instanceof TooLargeError)
      return fail(
        'LOAD_ERROR',
        `Too large to open: ${path}`,
        `${thrown.size} bytes, at most ${thrown.limit}`,
        'Recovery: /open PATH --lines 1-200 shows a part of it.',
      );
    if (thrown instanceof AccessDeniedError) return fail('LOAD_ERROR', `Permission denied: ${path}`);
    return fail('LOAD_ERROR', `${thrown.message}: ${path}`);
  }
}

/** Undefined for a document that is no file. */
export function pathOfUri(uri: string): string | undefined {
  return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
}

function isUsable(root: string): boolean {
  try {
    Roots.open([root]);
    return true;
  } catch (thrown) {
    if (thrown instanceof InvalidRootError) return false;
    throw thrown;
  }
}
