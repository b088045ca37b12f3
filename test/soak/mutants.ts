// Messages of every method of a table, and what can be wrong with a message: in its values, its text and its bytes.

import fc, { type Arbitrary } from 'fast-check';
import * as z from 'zod/mini';
import type { MethodDef } from '../../src/wire/jsonrpc/method.js';
import { exampleOf, type FieldExamples, type Schema } from './schema-example.js';

/** A message as the sender spells it: pieces of text, with names in it that stand for what is only known later. */
export interface Mutant {
  readonly text: string;
  readonly damage: readonly Damage[];
}

/** Where is a fraction: how long the line is going to be is not known yet. */
interface Damage {
  readonly kind: 'flip' | 'cut' | 'insert' | 'drop' | 'repeat';
  readonly where: number;
  readonly bytes: readonly number[];
}

/** JSON text that is not the text of any value: a number no double holds, or no JSON at all. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object whose keys may come twice, or have a meaning to JavaScript. */
class Members {
  readonly list: readonly (readonly [string, unknown])[];
  constructor(list: readonly (readonly [string, unknown])[]) {
    this.list = list;
  }
}

export function mutantOf(
  methods: readonly MethodDef[],
  fieldsOf: (method: string) => FieldExamples,
): Arbitrary<Mutant> {
  const messages = methods.map((method) => {
    const params = exampleOf(z.toJSONSchema(method.params, { io: 'input' }) as Schema, fieldsOf(method.name));
    return fc.record({ id, method: fc.constant(method.name), params });
  });
  const message = fc
    .tuple(fc.oneof(...messages, CANCEL), fc.array(change, { maxLength: 2 }))
    .map(([{ id, method, params }, changes]) =>
      changes.reduce<unknown>(
        (value, apply) => apply(value),
        new Members([
          ['jsonrpc', '2.0'],
          ...(id === undefined ? [] : [['id', id] as const]),
          ['method', method],
          ['params', params],
        ]),
      ),
    );
  const batch = fc
    .array(message, { maxLength: 4 })
    .chain((members) => fc.constantFrom<unknown>(members, [members], [members, 1], [...members, null]));
  const value = fc.oneof({ weight: 12, arbitrary: message }, { weight: 1, arbitrary: batch });
  return fc.record({
    text: fc.oneof({ weight: 200, arbitrary: value.map(print) }, { weight: 1, arbitrary: oddLine }),
    damage: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(damage, { minLength: 1, maxLength: 3 }) },
    ),
  });
}

/** The bytes of one mutant. What is left of a newline inside it makes two lines of it. */
export function spell(mutant: Mutant, names: ReadonlyMap<string, string>): Buffer {
  const text = mutant.text.replaceAll(/@[a-z]+@/g, (name) => names.get(name) ?? name);
  return mutant.damage.reduce(harm, Buffer.from(text, 'utf8'));
}

function harm(bytes: Buffer, { kind, where, bytes: given }: Damage): Buffer {
  const at = Math.floor(where * bytes.length);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (kind) {
    case 'cut':
      return head;
    case 'insert':
      return Buffer.concat([head, Buffer.from(given), tail]);
    case 'drop':
      return Buffer.concat([head, tail.subarray(given.length)]);
    case 'repeat':
      return Buffer.concat([head, tail.subarray(0, 64), tail]);
    default:
      return Buffer.concat([head, tail.map((byte, i) => byte ^ (given[i] ?? 0))]);
  }
}

const damage: Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('flip', 'cut', 'insert', 'drop', 'repeat'),
  where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  bytes: fc.oneof(
    fc.array(fc.nat(255), { minLength: 1, maxLength: 4 }),
    // Half a character, a surrogate in UTF-8, an overlong slash, no character at all, a newline, the end of a string.
    fc.constantFrom(
      [0xc3],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
      [0xff, 0xfe],
      [0x0a],
      [0x0d, 0x0a],
      [0],
      [0x22],
      [0x5c],
    ),
  ),
});

const id = fc.oneof(
  { weight: 8, arbitrary: fc.uuid() },
  { weight: 4, arbitrary: fc.integer() },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      undefined,
      null,
      '',
      0,
      -1,
      1.5,
      new Raw('-0'),
      new Raw('1.0'),
      new Raw('1e2'),
      new Raw('9007199254740993'),
      new Raw('123456789012345678901234567890'),
      new Raw('1e400'),
      new Raw('"\\ud800"'),
      new Raw('"\\u0000"'),
      {},
      [],
      true,
    ),
  },
);

const CANCEL = fc.record({
  id: fc.constant(undefined),
  method: fc.constantFrom('$/cancelRequest', 'notifications/cancelled'),
  params: fc.record({ id, requestId: id }),
});

const deep = (depth: number, inside = ''): Raw => new Raw('['.repeat(depth) + inside + ']'.repeat(depth));

/** What no field expects. */
const small: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    [],
    {},
    [[]],
    0,
    -1,
    0.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    Number.MAX_VALUE,
    5e-324,
    new Raw('1e400'),
    new Raw('-1e400'),
    new Raw('-0'),
    new Raw('9007199254740993'),
    new Raw('NaN'),
    new Raw('Infinity'),
    new Raw('undefined'),
    new Raw('"\\ud800"'),
    new Raw('"\\udc00\\ud800x"'),
    'a\u0000b',
    '/proc/self/mem',
    '/dev/zero',
    '/etc/passwd',
    '@outside@/secret',
    '@root@/link/secret',
    '../outside/secret',
    `${'../'.repeat(40)}etc/passwd`,
    'a/'.repeat(3000),
    '__proto__',
    'constructor',
    'toString',
    '\u202e\u2066',
    '{a,{b,{c,{d,e}}}}'.repeat(8),
    '**/'.repeat(200),
    '[[:alpha:]'.repeat(50),
    deep(20),
    deep(255),
    deep(300),
    new Raw('{"a":'.repeat(300) + '1' + '}'.repeat(300)),
    new Members([['__proto__', { polluted: true }]]),
    new Members([['constructor', { prototype: { polluted: true } }]]),
    new Members([
      ['then', 1],
      ['toJSON', 'x'],
    ]),
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.jsonValue({ maxDepth: 3 }),
);
/** Now and then one that takes its time. */
const large: Arbitrary<unknown> = fc.oneof(
  fc.integer({ min: 1000, max: 100_000 }).map((length) => 'é'.repeat(length)),
  fc.integer({ min: 1000, max: 20_000 }).map((length) => new Raw(`[${'0,'.repeat(length)}0]`)),
  fc.integer({ min: 1000, max: 20_000 }).map((length) => new Raw(`{${'"\\u0061":{},'.repeat(length)}"b":1}`)),
);
const odd = fc.oneof({ weight: 100, arbitrary: small }, { weight: 1, arbitrary: large });

const PROTOTYPE_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'then',
  'length',
];

type Change = (value: unknown) => unknown;

/** `pick` says which member, of the message or of its params. */
const change: Arbitrary<Change> = fc
  .record({
    kind: fc.constantFrom('remove', 'repeat', 'replace', 'add', 'rename', 'params', 'whole'),
    inside: fc.constantFrom(true, true, true, false),
    pick: fc.nat(30),
    value: odd,
    key: fc.oneof(fc.constantFrom(...PROTOTYPE_KEYS, 'id', 'method', 'result', 'error', 'ID'), fc.string()),
  })
  .map(({ kind, inside, pick, value, key }) => (message: unknown) => {
    if (!(message instanceof Members)) return message;
    if (kind === 'whole') return pick === 0 ? value : message;
    if (kind === 'params') return changeMember(message, 'params', () => (pick % 4 === 0 ? [value] : message));
    const edit = ({ list }: Members): Members => {
      const at = pick % Math.max(1, list.length);
      const [name = '', old] = list[at] ?? [];
      const edits = {
        remove: list.toSpliced(at, 1),
        repeat: [...list, [name, value] as const],
        replace: list.toSpliced(at, 1, [name, value]),
        rename: list.toSpliced(at, 1, [key, old]),
        add: [...list, [key, value] as const],
      };
      return new Members(edits[kind]);
    };
    return inside ? changeMember(message, 'params', (params) => edit(asMembers(params))) : edit(message);
  });

function changeMember(message: Members, key: string, to: (old: unknown) => unknown): Members {
  return new Members(message.list.map(([name, old]) => [name, name === key ? to(old) : old]));
}

function asMembers(value: unknown): Members {
  if (value instanceof Members) return value;
  return new Members(typeof value === 'object' && value !== null ? Object.entries(value) : []);
}

const oddLine = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\r',
    'null',
    '7',
    '"x"',
    '[]',
    '[[]]',
    '{}',
    '[1,2,3]',
    '\ufeff{}',
    '{"jsonrpc":"2.0","id":1,"result":1}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}',
    '{"jsonrpc":"2.0","id":1,"error":5}',
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    `[${'[],'.repeat(50_000)}[]]`,
    `[${'{"jsonrpc":"2.0","method":"session.info"},'.repeat(1100)}1]`,
    `"${'\\\\'.repeat(100_000)}"`,
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
);

function print(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (value instanceof Members)
    return `{${value.list.map(([key, each]) => `${JSON.stringify(key)}:${print(each)}`).join(',')}}`;
  if (Array.isArray(value)) return `[${value.map(print).join(',')}]`;
  if (typeof value === 'object' && value !== null) return print(new Members(Object.entries(value)));
  return JSON.stringify(value) ?? 'null';
}
