// The folder of this user's sockets of kept connections.

import { join } from 'node:path';
import { isPrivateFolder } from '../../client/rex/private-folder.js';

const HOME_STATE = '.local/state';
/** `sun_path` of unix(7), less the byte that ends it. */
const MAX_SOCKET_PATH_BYTES = 107;
/** What comes after the folder: for ssh `/`, a hash and a suffix while the socket is made; ours are shorter. */
const LONGEST_NAME_BYTES = 1 + 40 + 17;

/** Undefined where there can be none that is ours alone: then nothing is kept, and everything works without. */
export function privateFolder(env: NodeJS.ProcessEnv): string | undefined {
  const folder = folderFor(env);
  if (folder === undefined || Buffer.byteLength(folder) + LONGEST_NAME_BYTES > MAX_SOCKET_PATH_BYTES)
    return undefined;
  return isPrivateFolder(folder) ? folder : undefined;
}

/** As the XDG specification has it: a value that is empty or relative is no value. */
function folderFor(env: NodeJS.ProcessEnv): string | undefined {
  const { XDG_RUNTIME_DIR: runtime, XDG_STATE_HOME: state, HOME: home } = env;
  if (runtime?.startsWith('/') === true) return join(runtime, 'rex');
  if (state?.startsWith('/') === true) return join(state, 'rex');
  return home?.startsWith('/') === true ? join(home, HOME_STATE, 'rex') : undefined;
}
