// An edit that begins anew when somebody else has written meanwhile.

import { ConflictError } from '../../host/files/errors.js';

/** How often an edit is tried before its caller is told that the file keeps changing. */
export const MAX_EDIT_TRIES = 10;

/** Only for a caller who named no version: whoever did wants that one or none. */
export async function retryConflicts<T>(edit: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await edit();
    } catch (thrown) {
      if (!(thrown instanceof ConflictError) || tries >= MAX_EDIT_TRIES) throw thrown;
    }
  }
}
