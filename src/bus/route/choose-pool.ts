// Which pool a message is for: the one it names, the one its method belongs to, the default, or the only one.

import type { Slab } from '../flow/slab.js';
import type { Core } from './core.js';
import { methodOf } from './method.js';
import type { Pool } from './pool.js';
import type { RouterSettings } from './settings.js';

export class PoolChoice {
  readonly #byName = new Map<string, string>();
  readonly #byMethod: { readonly method: string; readonly pool: string }[];
  readonly #default: string | undefined;

  constructor({ pools, routes, defaultPool }: RouterSettings) {
    for (const { id, keys = [] } of pools) for (const name of [id, ...keys]) this.#byName.set(name, id);
    const declared = pools.flatMap(({ id, methods = [] }) => methods.map((method) => ({ method, pool: id })));
    this.#byMethod = [...routes, ...declared];
    this.#default = defaultPool ?? (pools.length === 1 ? pools[0]?.id : undefined);
  }

  /** Undefined: it has to say, and what it says must be a pool. */
  choose(core: Core, slab: Slab): Pool | undefined {
    if (core.fields.poolStart >= 0)
      return core.pools.get(this.#byName.get(namedPool(core, slab) ?? '') ?? '');
    const id = this.#byMethod.length === 0 ? this.#default : (this.#ofMethod(core, slab) ?? this.#default);
    return id === undefined ? undefined : core.pools.get(id);
  }

  #ofMethod({ fields }: Core, slab: Slab): string | undefined {
    if (fields.methodStart < 0) return undefined;
    const method = methodOf(fields, slab);
    return this.#byMethod.find((route) => fits(method, route.method))?.pool;
  }
}

/** What the message says in its top-level `pool`. */
export function namedPool({ fields }: Core, { bytes }: Slab): string | undefined {
  if (fields.poolStart < 0) return undefined;
  return JSON.parse(bytes.toString('utf8', fields.poolStart, fields.poolEnd)) as string;
}

function fits(method: string, pattern: string): boolean {
  return pattern.endsWith('*') ? method.startsWith(pattern.slice(0, -1)) : method === pattern;
}
