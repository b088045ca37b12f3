// One daemon for one data folder: two would not know of each other's agents.

import { join } from 'node:path';
import { LocalError } from '../../base/errors.js';
import { type FileLock, lockFile, LockTimeoutError } from '../../host/store/file-lock.js';

/** A daemon that is just ending lets go within this time. */
export const DATA_LOCK_WAIT_MS = 1000;

export class DataInUseError extends LocalError {
  override readonly name = 'DataInUseError';

  constructor(dataDir: string, pid: unknown) {
    const who = typeof pid === 'number' ? `process ${pid}` : 'another process';
    super('data_in_use', `${dataDir} is in use by a stringd that runs already (${who})`);
  }
}

export async function lockDataDir(dataDir: string, waitMs = DATA_LOCK_WAIT_MS): Promise<FileLock> {
  try {
    return await lockFile(join(dataDir, 'stringd'), { timeoutMs: waitMs });
  } catch (thrown) {
    if (thrown instanceof LockTimeoutError) throw new DataInUseError(dataDir, thrown.facts['pid']);
    throw thrown;
  }
}
