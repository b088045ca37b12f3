// The answer of commands that need a document, where there is none.

import { type Failure, fail } from '../result.js';

export function noDocument(): Failure {
  return fail('INVALID_TARGET', 'No document open.');
}
