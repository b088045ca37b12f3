// What is kept of a detached process on the disk, for exec.read.

import { BadEntryError } from '../../host/process/detached-entry.js';
import type { DetachedRun, OutputName } from '../../host/process/detached-run.js';
import { rexdError } from '../errors.js';

/** Rejects with process_not_found when it has been swept meanwhile: nobody else knows of the process any more either. */
export async function readKept(
  run: DetachedRun,
  stream: OutputName,
  offset: number,
  length: number,
): Promise<Buffer> {
  try {
    return await run.read(stream, offset, length);
  } catch (thrown) {
    if (!(thrown instanceof BadEntryError) || !thrown.isMissing) throw thrown;
    throw rexdError(
      'process_not_found',
      'The output of this process is no longer kept',
      { process_id: run.entry.id },
      thrown,
    );
  }
}
