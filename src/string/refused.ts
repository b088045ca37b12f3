// An answer that comes from deep inside: thrown where a thing is refused, given to the agent by whoever runs the command.

import { LocalError } from '../base/errors.js';
import { type Failure, fail } from './result.js';

export class RefusedError extends LocalError {
  override readonly name = 'RefusedError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super('refused', failure.message);
    this.failure = failure;
  }
}

export function refuse(code: Failure['code'], message: string, ...context: string[]): never {
  throw new RefusedError(fail(code, message, ...context));
}
