// The folder where servers of one user leave word of the sessions they have: a socket for each, named by its id.
//
// Whoever can connect may ask for a session, and must know its token. Only the user can: the folder is 0700 and the user's
// own, which is asked of the open folder, so that nobody can put another in its place after the question.

import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, LocalError } from '../../base/errors.js';
import { makeFolders } from '../../host/make-folders.js';

const OTHERS = 0o077;
/** What newId('s') makes: nothing that could lead out of the folder. */
const SESSION_ID = /^s_[0-9a-hjkmnp-tv-z]{26}$/;

export interface MeetingFolder extends Disposable {
  /** For paths, as long as it is open; short, whatever the folder is called. A socket's path has 107 bytes at most. */
  readonly here: string;
}

export class MeetingFolderError extends LocalError {
  override readonly name = 'MeetingFolderError';

  constructor(path: string, why: string, cause?: unknown) {
    super('meeting_folder', `${path} ${why}`, { facts: { path }, cause });
  }
}

export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id);
}

/** Throws MeetingFolderError. With `make`, what is missing is made. */
export function openMeetingFolder(stateDir: string, options: { readonly make: boolean }): MeetingFolder {
  const path = join(stateDir, 'resume');
  let fd: number;
  try {
    if (options.make) makeFolders(path);
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (thrown) {
    throw new MeetingFolderError(path, `cannot be opened (${errnoOf(thrown)})`, thrown);
  }
  const stat = fstatSync(fd);
  if (stat.uid === process.getuid?.() && (stat.mode & OTHERS) === 0) {
    return { here: `/proc/self/fd/${fd}`, [Symbol.dispose]: () => closeSync(fd) };
  }
  closeSync(fd);
  throw new MeetingFolderError(path, 'is not a folder of our own that is closed to others');
}

/** A socket, no link to one, and nobody else's. */
export function isOwnSocket(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isSocket() === true && stat.uid === process.getuid?.();
}
