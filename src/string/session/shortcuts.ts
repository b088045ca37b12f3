// What `@name` stands for in a topic: names given by the page, values kept by actions, names made for plain links, menus.

import { byteLengthOf } from '../byte-length.js';

/** Of one topic, all kinds together. */
export const MAX_SHORTCUTS = 30_000;
/** All names and values of one topic together; they are kept in memory and written down with the topic. */
export const MAX_SHORTCUT_BYTES = 2 * 1024 * 1024;
/** Menus that were unfolded already; of older ones it is forgotten. */
export const MAX_SEEN_MENUS = 200;

/** An address, a value, or several values that belong together. */
export type ShortcutValue = string | readonly string[];

export interface Menu {
  readonly name: string;
  /** The address of the file that it was read from. */
  readonly source: string;
  readonly entries: readonly { readonly id: string; readonly label: string; readonly href: string }[];
}

export interface ResolvedShortcut {
  readonly kind: 'page' | 'value' | 'auto' | 'menu';
  readonly value: ShortcutValue;
}

export interface ShortcutsState {
  readonly page: Readonly<Record<string, string>>;
  readonly auto: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, string | readonly string[]>>;
  readonly menus: readonly Menu[];
  readonly seenMenus: readonly string[];
}

export class Shortcuts {
  #page = new Map<string, string>();
  #auto = new Map<string, string>();
  #values = new Map<string, ShortcutValue>();
  #menus: readonly Menu[] = [];
  #seen = new Set<string>();
  #count = 0;
  #bytes = 0;
  readonly #changed: () => void;

  constructor(changed: () => void, state?: ShortcutsState) {
    this.#changed = changed;
    if (state === undefined) return;
    this.#put(this.#page, Object.entries(state.page));
    this.#put(this.#auto, Object.entries(state.auto));
    this.#put(this.#values, Object.entries(state.values));
    this.#setMenus(state.menus);
    this.#seen = new Set(state.seenMenus.slice(-MAX_SEEN_MENUS));
  }

  get page(): ReadonlyMap<string, string> {
    return this.#page;
  }

  get auto(): ReadonlyMap<string, string> {
    return this.#auto;
  }

  get values(): ReadonlyMap<string, ShortcutValue> {
    return this.#values;
  }

  get menus(): readonly Menu[] {
    return this.#menus;
  }

  /** With or without `@`: the author's before values, those before the ones made for links; `menu.id`; `page.id` is `id`. */
  resolve(name: string): ResolvedShortcut | undefined {
    const id = name.replace(/^@/u, '');
    const kinds = [
      ['page', this.#page],
      ['value', this.#values],
      ['auto', this.#auto],
    ] as const;
    for (const [kind, map] of kinds) {
      const value = map.get(id);
      if (value !== undefined) return { kind, value };
    }
    const dot = id.indexOf('.');
    if (dot === -1) return undefined;
    const [owner, rest] = [id.slice(0, dot), id.slice(dot + 1)];
    if (owner === 'page') return rest.startsWith('page.') ? undefined : this.resolve(rest);
    const menu = this.#menus.find((each) => each.name === owner);
    const entry = menu?.entries.find((each) => each.id === rest);
    return entry === undefined ? undefined : { kind: 'menu', value: entry.href };
  }

  /** Every name there is, in the order in which they are looked for; for messages. */
  names(): string[] {
    const own = new Set([...this.#page.keys(), ...this.#values.keys(), ...this.#auto.keys()]);
    return [...own, ...this.#menus.flatMap(({ name, entries }) => entries.map(({ id }) => `${name}.${id}`))];
  }

  has(name: string): boolean {
    return this.#page.has(name) || this.#values.has(name) || this.#auto.has(name);
  }

  /** Where a name leads that was made for a plain link, unless it stands for something else first. */
  linkOf(name: string): string | undefined {
    return this.#page.has(name) || this.#values.has(name) ? undefined : this.#auto.get(name);
  }

  /** Those of another page: what was known of the one before is gone, but for values. How many did not fit. */
  setPage(names: Iterable<readonly [string, string]>): number {
    this.#clear(this.#page);
    this.#clear(this.#auto);
    this.#setMenus([]);
    return this.#put(this.#page, names);
  }

  /** Instead of those there are. How many did not fit. */
  setAuto(names: Iterable<readonly [string, string]>): number {
    this.#clear(this.#auto);
    return this.#put(this.#auto, names);
  }

  /** Beside those there are: a name that stands for something already goes on to do so. How many did not fit. */
  mergeAuto(names: Iterable<readonly [string, string]>): number {
    return this.#put(
      this.#auto,
      [...names].filter(([name]) => !this.has(name)),
    );
  }

  /**
   * What an action has kept under `name`: the ids are `name` itself or `name-1`, `name-2`, …; all that were there under
   * it are gone. How many did not fit.
   */
  setValues(name: string, values: Iterable<readonly [id: string, value: ShortcutValue]>): number {
    for (const [id, value] of this.#values)
      if (id === name || (id.startsWith(`${name}-`) && /^\d+$/u.test(id.slice(name.length + 1))))
        this.#forget(this.#values, id, value);
    return this.#put(this.#values, values);
  }

  setMenus(menus: readonly Menu[]): void {
    this.#setMenus(menus);
    this.#changed();
  }

  /** True once for every menu of a topic. */
  seeMenu(source: string): boolean {
    if (this.#seen.has(source)) return false;
    this.#seen = new Set([...this.#seen, source].slice(-MAX_SEEN_MENUS));
    this.#changed();
    return true;
  }

  get state(): ShortcutsState {
    return {
      page: Object.fromEntries(this.#page),
      auto: Object.fromEntries(this.#auto),
      values: Object.fromEntries(this.#values),
      menus: this.#menus,
      seenMenus: [...this.#seen],
    };
  }

  #put<V extends ShortcutValue>(map: Map<string, V>, names: Iterable<readonly [string, V]>): number {
    let leftOut = 0;
    for (const [name, value] of names) {
      const before = map.get(name);
      const more = sizeOf(name, value) - (before === undefined ? 0 : sizeOf(name, before));
      const isFull = before === undefined && this.#count >= MAX_SHORTCUTS;
      if (isFull || this.#bytes + more > MAX_SHORTCUT_BYTES) {
        leftOut += 1;
        continue;
      }
      map.set(name, value);
      this.#bytes += more;
      if (before === undefined) this.#count += 1;
    }
    this.#changed();
    return leftOut;
  }

  #setMenus(menus: readonly Menu[]): void {
    for (const menu of this.#menus) this.#bytes -= sizeOfMenu(menu);
    this.#menus = [];
    for (const menu of menus) {
      const bytes = sizeOfMenu(menu);
      if (this.#bytes + bytes > MAX_SHORTCUT_BYTES) continue;
      this.#menus = [...this.#menus, menu];
      this.#bytes += bytes;
    }
  }

  #clear(map: Map<string, string>): void {
    for (const [name, value] of map) this.#bytes -= sizeOf(name, value);
    this.#count -= map.size;
    map.clear();
  }

  #forget(map: Map<string, ShortcutValue>, name: string, value: ShortcutValue): void {
    map.delete(name);
    this.#bytes -= sizeOf(name, value);
    this.#count -= 1;
  }
}

function sizeOf(name: string, value: ShortcutValue): number {
  const parts = typeof value === 'string' ? [value] : value;
  return parts.reduce((sum, part) => sum + byteLengthOf(part), byteLengthOf(name));
}

function sizeOfMenu({ name, source, entries }: Menu): number {
  return entries.reduce(
    (sum, { id, label, href }) => sum + byteLengthOf(id) + byteLengthOf(label) + byteLengthOf(href),
    byteLengthOf(name) + byteLengthOf(source),
  );
}
