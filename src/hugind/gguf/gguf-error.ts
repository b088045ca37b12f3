// Why a file is no model that could be loaded.

import { HugindError } from '../errors.js';

export class GgufError extends HugindError {
  constructor(why: string) {
    super('invalid_params', `no usable GGUF file: ${why}`);
  }
}
