// The two ways a run is refused before it measures anything.

import { LocalError } from '../../src/base/errors.js';

/** The command line asks for what does not exist. */
export class UsageError extends LocalError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super('usage', message);
  }
}

/** A suite needs what is not there, such as a build; a run of all suites goes on without it. */
export class UnavailableError extends LocalError {
  override readonly name = 'UnavailableError';

  constructor(message: string, cause?: unknown) {
    super('unavailable', message, { cause });
  }
}
