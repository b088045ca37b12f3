// The folder a command runs in: inside the session's roots, and held open so that it cannot be swapped before the start.

import { pinDirectory } from '../host/files/walk.js';
import { forbiddenPath } from './errors.js';
import { toRexdError } from './translate-error.js';
import type { Session } from './sessions.js';

export interface WorkingDirectory extends Disposable {
  /** For chdir, as long as it is held: the folder itself, whatever its name means by then. */
  readonly path: string;
  /** For people. */
  readonly shown: string;
}

export function openWorkingDirectory(session: Session, asked: string | undefined): WorkingDirectory {
  const base = session.cwd;
  if (base === null) throw forbiddenPath(asked ?? '.', []);
  try {
    const shown = session.roots.resolve(asked ?? base, base);
    const held = pinDirectory(session.roots.files, shown);
    return { path: held.here, shown, [Symbol.dispose]: () => held[Symbol.dispose]() };
  } catch (thrown) {
    throw toRexdError(thrown, session.roots);
  }
}
