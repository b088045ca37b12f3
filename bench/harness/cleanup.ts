// Holds what a suite opened and closes it in reverse order, whatever fails on the way (Node 20 has no AsyncDisposableStack).

import { Resource } from '../../src/base/resource.js';

export class Cleanup extends Resource {
  readonly #held: AsyncDisposable[] = [];

  use<T extends AsyncDisposable>(resource: T): T {
    this.#held.push(resource);
    return resource;
  }

  protected override async release(): Promise<void> {
    const failures: unknown[] = [];
    for (const resource of this.#held.toReversed()) {
      await Promise.resolve(resource[Symbol.asyncDispose]()).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, 'could not close everything');
  }
}
