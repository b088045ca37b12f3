// A command that cannot be done, with what its user can do about it.

import { LocalError } from '../base/errors.js';
import { EXIT } from './exit-codes.js';

export class FailedError extends LocalError {
  override readonly name = 'FailedError';
  readonly hint: string | undefined;
  readonly exitCode: number;

  /** `code`: what programs know it by. */
  constructor(message: string, hint?: string, exitCode: number = EXIT.failed, code = 'failed') {
    super(code, message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}
