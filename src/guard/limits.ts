// Named limits: a table says what there is, the server sets values, a session may only lower them.

import { LocalError } from '../base/errors.js';

type LimitUnit = 'ms' | 'bytes' | 'count';

interface LimitDefinition {
  readonly default: number;
  readonly unit: LimitUnit;
  /** One sentence for the documentation. */
  readonly summary: string;
  /** The largest value a server may be given. */
  readonly max?: number;
  /** Another limit of the table that this one never exceeds: lowering that one lowers this one too. */
  readonly atMost?: string;
}

export type LimitTable<Name extends string> = Readonly<Record<Name, LimitDefinition>>;
export type LimitValues<Name extends string> = Readonly<Partial<Record<Name, number | undefined>>>;

/** A value that was asked for and is not what was given. */
export interface Clamp<Name extends string> {
  readonly name: Name;
  readonly asked: number;
  readonly given: number;
}

export class LimitError extends LocalError {
  override readonly name = 'LimitError';

  constructor(limit: string, value: unknown, wanted: string) {
    const shown = typeof value === 'number' ? String(value) : typeof value;
    super('bad_limit', `${limit}: ${wanted}, got ${shown}`, { facts: { limit } });
  }
}

/** Values for every name of a table. Immutable: lowering gives a new set. */
export class LimitSet<Name extends string> {
  readonly table: LimitTable<Name>;
  /** Where the values given to the server contradicted each other, for its log. */
  readonly clamped: readonly Clamp<Name>[];
  readonly #values: Readonly<Record<Name, number>>;
  readonly #chosen: ReadonlySet<Name>;

  /**
   * The server's own set: defaults, with `values` in their place. Here a value may be raised, up to `max`. `chosen`: which
   * of them somebody has decided on, when those are not all.
   */
  constructor(table: LimitTable<Name>, values?: LimitValues<Name>, chosen?: ReadonlySet<Name>) {
    const asked = checkValues(table, values ?? {});
    for (const [name, value] of asked) {
      const { max } = table[name];
      if (max !== undefined && value > max) throw new LimitError(name, value, `expected at most ${max}`);
    }
    this.table = table;
    this.#chosen = chosen ?? new Set(asked.keys());
    ({ values: this.#values, clamped: this.clamped } = settle(table, asked, (name) => table[name].default));
  }

  get(name: Name): number {
    return this.#values[name];
  }

  /** The value if the server was given it or a session has lowered it; undefined for a default that nobody chose. */
  chosen(name: Name): number | undefined {
    return this.#chosen.has(name) ? this.get(name) : undefined;
  }

  /**
   * The set of a session that asks for `values`. More than there is to give is no error: the client gets what there
   * is, and `clamped` says so. A value that is no limit at all (0, negative, a fraction, NaN) is refused by name.
   */
  lower(values: LimitValues<Name>): { limits: LimitSet<Name>; clamped: readonly Clamp<Name>[] } {
    const asked = checkValues(this.table, values);
    if (asked.size === 0) return { limits: this, clamped: [] };
    const settled = settle(
      this.table,
      asked,
      (name) => this.get(name),
      (name) => this.get(name),
    );
    const names = Object.keys(this.table) as Name[];
    const chosen = names.filter((name) => this.#chosen.has(name) || settled.values[name] < this.get(name));
    return {
      limits: new LimitSet(this.table, settled.values, new Set(chosen)),
      clamped: settled.clamped,
    };
  }

  /** The same set of the server with `values` in their place: they are chosen now, and what was not still is not. */
  with(values: LimitValues<Name>): LimitSet<Name> {
    const given = Object.keys(values) as Name[];
    return new LimitSet(this.table, { ...this.#values, ...values }, new Set([...this.#chosen, ...given]));
  }

  /** What a single request that asks for `asked` gets of a limit: that, or the limit if it asks for more or nothing. */
  within(name: Name, asked: number | undefined): number {
    if (asked === undefined) return this.get(name);
    return Math.min(checkValue(name, asked), this.get(name));
  }

  toJSON(): Readonly<Record<Name, number>> {
    return this.#values;
  }
}

function checkValues<Name extends string>(
  table: LimitTable<Name>,
  values: Readonly<Record<string, unknown>>,
): Map<Name, number> {
  const checked = new Map<Name, number>();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(table, name)) throw new LimitError(name, value, 'no such limit');
    checked.set(name as Name, checkValue(name, value));
  }
  return checked;
}

function checkValue(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw new LimitError(name, value, 'expected a whole number of at least 1');
}

function settle<Name extends string>(
  table: LimitTable<Name>,
  asked: ReadonlyMap<Name, number>,
  otherwise: (name: Name) => number,
  ceiling: (name: Name) => number = () => Number.POSITIVE_INFINITY,
): { values: Readonly<Record<Name, number>>; clamped: readonly Clamp<Name>[] } {
  const names = Object.keys(table) as Name[];
  const first = new Map<Name, number>();
  for (const name of names) first.set(name, Math.min(asked.get(name) ?? otherwise(name), ceiling(name)));
  const values: Partial<Record<Name, number>> = {};
  const clamped: Clamp<Name>[] = [];
  for (const name of names) {
    const given = follow(table, first, name);
    values[name] = given;
    const wanted = asked.get(name);
    if (wanted !== undefined && wanted !== given) clamped.push({ name, asked: wanted, given });
  }
  return { values: Object.freeze(values) as Readonly<Record<Name, number>>, clamped };
}

/** The least of a limit and of those it must not exceed. */
function follow<Name extends string>(
  table: LimitTable<Name>,
  values: ReadonlyMap<Name, number>,
  name: Name,
): number {
  let least = values.get(name) ?? 0;
  const seen = new Set<string>([name]);
  for (let above = table[name].atMost; above !== undefined && !seen.has(above); ) {
    seen.add(above);
    least = Math.min(least, values.get(above as Name) ?? least);
    above = table[above as Name]?.atMost;
  }
  return least;
}
