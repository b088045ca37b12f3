// A table keyed by bytes and a number, without allocation for each entry. Equal keys are kept in the order they came.

/** Longest key that lies in the table's own memory; a longer one is kept beside it. */
export const INLINE_KEY_BYTES = 40;
const FIRST_CAPACITY = 256;

export class ByteTable<V> {
  size = 0;
  #capacity = 0;
  /** Entry that a chain begins with, by the low bits of the mixed hash; −1: none. */
  #heads = new Int32Array(0);
  /** And the one it ends with: of a thousand equal keys the next is put behind the last without a walk. */
  #tails = new Int32Array(0);
  #next = new Int32Array(0);
  #hashes = new Int32Array(0);
  #lengths = new Int32Array(0);
  #tags = new Int32Array(0);
  /** Of each entry, how many came before it; counts on from zero after four thousand million. */
  #arrivals = new Int32Array(0);
  #arrived = 0;
  #keys = new Uint8Array(0);
  #values: (V | undefined)[] = [];
  readonly #long = new Map<number, Buffer>();
  /** Free entries are a chain too. */
  #free = -1;

  constructor() {
    this.#resize(FIRST_CAPACITY);
  }

  add(bytes: Uint8Array, start: number, end: number, hash: number, tag: number, value: V): number {
    if (this.#free < 0) this.#resize(this.#capacity * 2);
    const entry = this.#free;
    this.#free = this.#next[entry]!;
    this.#hashes[entry] = hash;
    this.#tags[entry] = tag;
    this.#arrivals[entry] = this.#arrived;
    this.#arrived = (this.#arrived + 1) | 0;
    this.#lengths[entry] = end - start;
    this.#values[entry] = value;
    if (end - start > INLINE_KEY_BYTES) this.#long.set(entry, Buffer.from(bytes.subarray(start, end)));
    else {
      const keys = this.#keys;
      let k = entry * INLINE_KEY_BYTES;
      for (let p = start; p < end; p += 1, k += 1) keys[k] = bytes[p]!;
    }
    this.#append(entry);
    this.size += 1;
    return entry;
  }

  /** The oldest entry of this key, or −1. It stays the same until it is removed. */
  find(bytes: Uint8Array, start: number, end: number, hash: number, tag: number): number {
    const hashes = this.#hashes;
    const tags = this.#tags;
    const next = this.#next;
    let entry = this.#heads[mix(hash, tag) & (this.#capacity - 1)]!;
    while (entry >= 0) {
      if (hashes[entry] === hash && tags[entry] === tag && this.#hasKey(entry, bytes, start, end))
        return entry;
      entry = next[entry]!;
    }
    return -1;
  }

  valueAt(entry: number): V {
    return this.#values[entry] as V;
  }

  setValue(entry: number, value: V): void {
    this.#values[entry] = value;
  }

  tagAt(entry: number): number {
    return this.#tags[entry]!;
  }

  keyAt(entry: number): Buffer {
    const from = entry * INLINE_KEY_BYTES;
    return this.#long.get(entry) ?? Buffer.from(this.#keys.subarray(from, from + this.#lengths[entry]!));
  }

  /** Which of two came first: negative when it is `entry`. */
  compareArrival(entry: number, other: number): number {
    return (this.#arrivals[entry]! - this.#arrivals[other]!) | 0;
  }

  remove(entry: number): void {
    const bucket = mix(this.#hashes[entry]!, this.#tags[entry]!) & (this.#capacity - 1);
    const next = this.#next;
    let before = -1;
    for (let at = this.#heads[bucket]!; at !== entry; at = next[at]!) before = at;
    if (before < 0) this.#heads[bucket] = next[entry]!;
    else next[before] = next[entry]!;
    if (this.#tails[bucket] === entry) this.#tails[bucket] = before;
    next[entry] = this.#free;
    this.#free = entry;
    this.#values[entry] = undefined;
    if (this.#lengths[entry]! > INLINE_KEY_BYTES) this.#long.delete(entry);
    this.size -= 1;
  }

  /** Calls `each` with every entry there is now; it may remove the one it is given. */
  forEach(each: (entry: number, value: V) => void): void {
    for (let bucket = 0; bucket < this.#capacity; bucket += 1) {
      let entry = this.#heads[bucket]!;
      while (entry >= 0) {
        const after = this.#next[entry]!;
        each(entry, this.valueAt(entry));
        entry = after;
      }
    }
  }

  #hasKey(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    if (this.#lengths[entry] !== length) return false;
    if (length > INLINE_KEY_BYTES) return this.#long.get(entry)?.equals(bytes.subarray(start, end)) === true;
    const keys = this.#keys;
    let k = entry * INLINE_KEY_BYTES;
    for (let p = start; p < end; p += 1, k += 1) if (keys[k] !== bytes[p]) return false;
    return true;
  }

  /** At the end of its chain: behind the equal ones that came before. */
  #append(entry: number): void {
    const next = this.#next;
    const bucket = mix(this.#hashes[entry]!, this.#tags[entry]!) & (this.#capacity - 1);
    next[entry] = -1;
    if (this.#heads[bucket]! < 0) this.#heads[bucket] = entry;
    else next[this.#tails[bucket]!] = entry;
    this.#tails[bucket] = entry;
  }

  /** A power of two. Entries keep their numbers; chains are made anew in their order. */
  #resize(capacity: number): void {
    const heads = this.#heads;
    const next = this.#next;
    const used = this.#capacity;
    this.#capacity = capacity;
    this.#heads = new Int32Array(capacity).fill(-1);
    this.#tails = new Int32Array(capacity);
    this.#next = new Int32Array(capacity);
    this.#hashes = larger(this.#hashes, new Int32Array(capacity));
    this.#lengths = larger(this.#lengths, new Int32Array(capacity));
    this.#tags = larger(this.#tags, new Int32Array(capacity));
    this.#arrivals = larger(this.#arrivals, new Int32Array(capacity));
    this.#keys = larger(this.#keys, new Uint8Array(capacity * INLINE_KEY_BYTES));
    for (const head of heads) {
      for (let entry = head; entry >= 0; entry = next[entry]!) this.#append(entry);
    }
    for (let entry = capacity - 1; entry >= used; entry -= 1) {
      this.#next[entry] = this.#free;
      this.#free = entry;
    }
  }
}

function mix(hash: number, tag: number): number {
  const mixed = hash ^ Math.imul(tag + 1, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function larger<A extends Int32Array | Uint8Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
