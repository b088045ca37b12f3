// Random lines of JSON as no serialiser would write them, and the same with something broken in them.

export type Random = () => number;

const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const pick = <T>(random: Random, from: readonly T[]): T => from[below(random, from.length)] as T;

const SPACES = ['', '', '', '', ' ', '  ', '\t', '\r', ' \r\t '];
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-17',
  '1.5',
  '1e3',
  '1E+3',
  '2.50e-10',
  '123456789012345678901234567890',
  '0.1',
];
const TEXTS = [
  '',
  'a',
  'id',
  'sessionId',
  'result',
  'ü😀',
  '\u2028',
  '{"id":1}',
  '}',
  '"',
  '\\',
  '\b\f\n\r\t',
  '\u0001',
  'x'.repeat(300),
];
const ROUTING = ['id', 'method', 'sessionId', 'result', 'error', 'params', 'jsonrpc', 'pool'];
const KEYS = [...ROUTING, '', 'a', 'Id', 'ID', 'ids', 'i d', 'ü', 'sessionid', '__proto__', 'constructor'];

/** A string as JSON, some of it escaped though it need not be. */
export function spellString(random: Random, text: string): string {
  const plain = JSON.stringify(text);
  if (random() < 0.7) return plain;
  let out = '"';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const short = JSON.stringify(text[at]).slice(1, -1);
    const long = `\\u${unit.toString(16).padStart(4, '0')}`;
    const lone = unit >= 0xd8_00 && unit < 0xe0_00;
    out +=
      lone || random() < 0.3 ? (random() < 0.5 ? long : long.toUpperCase().replace('\\U', '\\u')) : short;
  }
  return `${out}"`;
}

export function randomValue(random: Random, depth = 0): string {
  const kind = below(random, depth > 4 ? 4 : 6);
  if (kind === 0) return pick(random, ['true', 'false', 'null']);
  if (kind === 1) return pick(random, NUMBERS);
  if (kind === 2 || kind === 3) return spellString(random, pick(random, TEXTS));
  const gap = pick(random, SPACES);
  const items = Array.from({ length: below(random, 4) }, () =>
    kind === 4
      ? randomValue(random, depth + 1)
      : `${spellString(random, pick(random, KEYS))}${gap}:${gap}${randomValue(random, depth + 1)}`,
  );
  return kind === 4
    ? `[${gap}${items.join(`${gap},${gap}`)}${gap}]`
    : `{${gap}${items.join(`,${gap}`)}${gap}}`;
}

/** An object with these members (as JSON already) among random ones, in any order. */
export function randomObject(random: Random, members: Readonly<Record<string, string>>): string {
  const gap = pick(random, SPACES);
  const own = Object.entries(members).map(([key, value]) => [key, value] as const);
  const strange = Array.from({ length: below(random, 3) }, () => {
    const key = pick(random, KEYS);
    return [ROUTING.includes(key) ? `x-${key}` : key, randomValue(random)] as const;
  });
  const all = [...own, ...strange];
  for (let at = all.length - 1; at > 0; at--) {
    const other = below(random, at + 1);
    [all[at], all[other]] = [all[other] as (typeof all)[0], all[at] as (typeof all)[0]];
  }
  const spelled = all.map(
    ([key, value]) => `${spellString(random, key)}${gap}:${pick(random, SPACES)}${value}`,
  );
  return `${gap}{${gap}${spelled.join(`${gap},${pick(random, SPACES)}`)}${gap}}${pick(random, SPACES)}`;
}

/** Something changed in it: a byte, a piece, its end. It may still be JSON by luck. Never with a newline in it. */
export function breakLine(random: Random, line: string): Buffer {
  const bytes = Buffer.from(line);
  const at = below(random, bytes.length);
  const alone = Buffer.from(
    pick(random, ['"', '\\', '{', '}', '[', ']', ',', ':', '0', 'e', '-', '\0', '\t', 'x', ' ', '\ufeff']),
  );
  const broken = [
    () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
    () => Buffer.concat([bytes.subarray(0, at), alone, bytes.subarray(at)]),
    () => Buffer.concat([bytes.subarray(0, at), alone, bytes.subarray(at + 1)]),
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)]),
    () => Buffer.from(bytes.map((byte, n) => (n === at ? below(random, 256) : byte))),
  ][below(random, 7)]?.() as Buffer;
  return Buffer.from(broken.map((byte) => (byte === 10 ? 32 : byte)));
}
