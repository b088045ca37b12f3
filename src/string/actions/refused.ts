// An answer that comes from deep inside.

import { LocalError } from '../../base/errors.js';
import type { Failure } from '../result.js';

export class ActionRefusedError extends LocalError {
  override readonly name = 'ActionRefusedError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super('action_refused', failure.message);
    this.failure = failure;
  }
}
