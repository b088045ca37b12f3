// What is wrong with a configuration, in one sentence for whoever wrote it.

import { LocalError } from '../../base/errors.js';

export class BusConfigError extends LocalError {
  override readonly name = 'BusConfigError';

  /** `where` is the file as it was named, or what stands for one. */
  constructor(where: string, why: string, cause?: unknown) {
    super('config', where === '' ? why : `${where}: ${why}`, { facts: { where }, cause });
  }
}
