import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_COMMAND_CHARS,
  MAX_DEPTH,
  MAX_ENTRIES,
  MAX_KEY_CHARS,
  MAX_STRING_CHARS,
  MAX_TEXT_CHARS,
  MAX_VALUES,
  redact,
} from '../../../src/guard/redact.js';
import { runs } from '../../helpers/runs.js';

const HIDDEN = '[redacted]';

describe('by the name of the field', () => {
  test.each([
    'token',
    'Token',
    'access_token',
    'accessToken',
    'X-Auth-Token',
    'password',
    'PASSWORD',
    'db.password',
    'passwd',
    'passphrase',
    'secret',
    'client-secret',
    'CLIENT_SECRET',
    'authorization',
    'Proxy-Authorization',
    'api_key',
    'apiKey',
    'x-api-key',
    'API KEY',
    'cookie',
    'Set-Cookie',
    'private_key',
    'privateKey',
    'aws_secret_access_key',
    'credentials',
    'auth',
    'pwd',
    'otp',
    'ssh_key',
  ])('%s is hidden, whatever it holds', (name) => {
    for (const value of [
      'hunter2',
      12345,
      true,
      { nested: 'hunter2' },
      ['hunter2'],
      Buffer.from('hunter2'),
    ]) {
      expect(redact({ [name]: value })).toEqual({ [name]: HIDDEN });
    }
    expect(redact({ [name]: null })).toEqual({ [name]: null });
  });

  test.each([
    ['session_id', 's_1'],
    ['path', '/srv/app'],
    ['max_tokens', 100],
    ['token_file', '/run/token'],
    ['author', 'me'],
    ['keyboard', 'x'],
    ['password_prompt', 'Name?'],
    ['process_id', 'p_1'],
    ['public_key', 'ssh-ed25519 AAAA'],
    ['passed', 3],
    ['secretary', 'hidden too'],
  ])('%s is shown as it is', (name, value) => {
    const expected = name === 'secretary' ? HIDDEN : value; // better one word too many than one too few
    expect(redact({ [name]: value })).toEqual({ [name]: expected });
  });

  test.each(['content', 'contents', 'stdin', 'data', 'old_string', 'new_string', 'patch_text', 'stdout'])(
    '%s is counted in bytes and not shown',
    (name) => {
      expect(redact({ [name]: 'héllo wörld' })).toEqual({ [name]: '<13 bytes>' });
      expect(redact({ [name]: Buffer.alloc(5) })).toEqual({ [name]: '<5 bytes>' });
      expect(redact({ [name]: ['ab', 'c'] })).toEqual({ [name]: ['<2 bytes>', '<1 bytes>'] });
      expect(redact({ [name]: '' })).toEqual({ [name]: '<0 bytes>' });
      expect(redact({ [name]: { path: '/x', password: 'y' } })).toEqual({
        [name]: { path: '/x', password: HIDDEN },
      });
    },
  );

  test('an environment keeps its names and loses its values', () => {
    const env = { PATH: '/bin', HARMLESS: 'x', TOKEN: 'y' };
    expect(redact({ env })).toEqual({ env: { PATH: '[set]', HARMLESS: '[set]', TOKEN: '[set]' } });
    expect(redact({ env: ['A=1', 'B=2=3', 'C'] })).toEqual({ env: ['A=[set]', 'B=[set]', '[set]'] });
    expect(redact({ environment: new Map([['A', '1']]) })).toEqual({ environment: { A: '[set]' } });
    expect(redact({ env: 'A=1' })).toEqual({ env: HIDDEN });
  });

  test('a command loses its secrets and keeps the rest', () => {
    expect(
      redact({ argv: ['curl', '-H', 'Authorization: Bearer abc', '--token', 'x y', 'https://u:p@h/x'] }),
    ).toEqual({
      argv: ['curl', '-H', `Authorization: ${HIDDEN}`, '--token', HIDDEN, `https://${HIDDEN}@h/x`],
    });
    expect(redact({ command: 'PGPASSWORD=hunter2 psql -h db' })).toEqual({
      command: `PGPASSWORD=${HIDDEN} psql -h db`,
    });
    expect(redact({ argv: ['ls', 5] })).toEqual({ argv: ['ls', 5] });
  });

  test('a name longer than any name hides what it holds', () => {
    const name = `${'a'.repeat(300)}password${'b'.repeat(300)}`;
    expect(JSON.stringify(redact({ [name]: 'hunter2' }))).not.toContain('hunter2');
  });

  test('a pair of name and value is one field', () => {
    expect(
      redact([
        { name: 'Authorization', value: 'x y' },
        { key: 'API_KEY', value: 'x' },
        { name: 'color', value: 'red' },
      ]),
    ).toEqual([
      { name: 'Authorization', value: HIDDEN },
      { key: 'API_KEY', value: HIDDEN },
      { name: 'color', value: 'red' },
    ]);
  });

  test('the names a caller adds count too', () => {
    const hints = { contents: ['text'], secrets: ['recovery'] };
    expect(redact({ a: { text: 'abc', recovery: 'x' } }, hints)).toEqual({
      a: { text: '<3 bytes>', recovery: HIDDEN },
    });
  });
});

describe('any value', () => {
  test('becomes plain JSON', () => {
    const value = {
      big: 12n,
      nan: Number.NaN,
      date: new Date(0),
      bad: new Date(Number.NaN),
      fn: () => {},
      symbol: Symbol('x'),
      none: undefined,
      nil: null,
      map: new Map<unknown, unknown>([
        ['password', 'x'],
        ['a', 1],
        [{}, 2],
      ]),
      set: new Set([1, 'b']),
      url: new URL('http://u:p@h/'),
      error: Object.assign(new Error('token=abcdef'), { code: 'EX' }),
      bytes: new Uint16Array(4),
      buffer: new ArrayBuffer(3),
      list: [undefined, 1],
    };
    const shown = redact(value);
    expect(JSON.parse(JSON.stringify(shown))).toEqual({
      big: '12',
      nan: 'NaN',
      date: '1970-01-01T00:00:00.000Z',
      bad: 'Invalid Date',
      fn: '[function]',
      symbol: '[symbol]',
      nil: null,
      map: { password: HIDDEN, a: 1, object: 2 },
      set: [1, 'b'],
      url: `http://${HIDDEN}@h/`,
      error: { name: 'Error', message: `token=${HIDDEN}`, code: 'EX' },
      bytes: '<8 bytes>',
      buffer: '<3 bytes>',
      list: [null, 1],
    });
  });

  test('that goes in circles comes to an end, and one that is only shared is shown twice', () => {
    const shared = { a: 1 };
    const circle: Record<string, unknown> = { one: shared, two: shared };
    circle['self'] = circle;
    circle['list'] = [circle];
    circle['content'] = [[circle['list']]];
    expect(redact(circle)).toMatchObject({
      one: { a: 1 },
      two: { a: 1 },
      self: '[circular]',
      list: ['[circular]'],
    });
    const content: unknown[] = [];
    content.push(content);
    expect(() => redact({ content })).not.toThrow();
  });

  test('that cannot be read does no harm', () => {
    const getter = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    const trap = () => {
      throw new Error('no');
    };
    const proxy = new Proxy({}, { ownKeys: trap, getPrototypeOf: trap, get: trap });
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(redact({ getter, proxy, revoked, ok: 1 })).toEqual({
      getter: '[unreadable]',
      proxy: '[unreadable]',
      revoked: '[unreadable]',
      ok: 1,
    });
  });

  test('a field called __proto__ is a field like any other', () => {
    const shown = redact(JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}')) as object;
    expect(Object.keys(shown)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
  });
});

describe('caps', () => {
  test('on depth', () => {
    let deep: unknown = 'bottom';
    for (let i = 0; i < MAX_DEPTH + 1; i++) deep = { deep };
    expect(JSON.stringify(redact(deep))).toContain('[deep]');
    let fits: unknown = 'bottom';
    for (let i = 0; i < MAX_DEPTH; i++) fits = { fits };
    expect(JSON.stringify(redact(fits))).toContain('bottom');
    let abyss: unknown = [];
    for (let i = 0; i < 100_000; i++) abyss = [abyss];
    expect(() => redact(abyss)).not.toThrow();
  });

  test('on width, with the number of what is left out', () => {
    const list = Array.from({ length: MAX_ENTRIES + 3 }, (_, i) => i);
    expect(redact(list)).toHaveLength(MAX_ENTRIES + 1);
    expect((redact(list) as unknown[]).at(-1)).toBe('<3 more>');
    const fields = Object.fromEntries(list.map((i) => [`k${i}`, i]));
    expect(redact(fields)).toMatchObject({ k0: 0, '…': '<3 more>' });
    expect(redact({ env: fields })).toMatchObject({ env: { '…': '<3 more>' } });
    expect((redact({ argv: list.map(String) }) as { argv: string[] }).argv).toHaveLength(MAX_ENTRIES + 1);
  });

  test('on the length of a text and of a name', () => {
    const shown = redact({
      note: 'a '.repeat(MAX_STRING_CHARS),
      command: 'b '.repeat(MAX_COMMAND_CHARS),
      ['k '.repeat(500)]: 1,
    }) as Record<string, string>;
    expect(shown['note']).toMatch(/^(a )+…<2048 characters>$/);
    expect(shown['note']?.length).toBeLessThan(MAX_STRING_CHARS + 30);
    expect(shown['command']?.length).toBeLessThan(MAX_COMMAND_CHARS + 30);
    expect(Object.keys(shown).at(-1)?.length).toBeLessThan(200);
  });

  test('on values and on text in all: nothing small makes something huge', () => {
    const wide = (depth: number): unknown =>
      depth === 0 ? 'x'.repeat(1000) : Array.from({ length: MAX_ENTRIES }, () => shared[depth - 1]);
    const shared: unknown[] = [];
    for (let depth = 0; depth < 6; depth++) shared.push(wide(depth)); // 64⁵ values if they were all written out
    const text = JSON.stringify(redact(shared[5]));
    expect(text.length).toBeLessThan(2 * MAX_TEXT_CHARS + 40 * MAX_VALUES);
    const argvs = Array.from({ length: 60 }, () => ({
      argv: Array.from({ length: 60 }, () => 'y'.repeat(900)),
    }));
    expect(JSON.stringify(redact(argvs)).length).toBeLessThan(40 * 60 * 60 + 2 * MAX_TEXT_CHARS);
  });

  test('a secret is not half shown because the text was cut in its middle', () => {
    for (let at = MAX_STRING_CHARS - 60; at <= MAX_STRING_CHARS + 10; at++) {
      const text = `${'w '.repeat(at / 2)} ghp_${'S'.repeat(36)} tail`;
      expect(JSON.stringify(redact({ text }))).not.toContain('SS');
    }
  });
});

// Properties ------------------------------------------------------------------------------------------------------

const secretName = fc
  .tuple(
    fc.constantFrom('', 'db_', 'my-', 'X-', 'user.', 'GITHUB_'),
    fc.constantFrom(
      'token',
      'password',
      'secret',
      'authorization',
      'api_key',
      'apiKey',
      'cookie',
      'private_key',
      'PASSPHRASE',
      'credentials',
      'access-key',
    ),
    fc.boolean(),
  )
  .map(([prefix, name, upper]) => (upper ? `${prefix}${name}`.toUpperCase() : `${prefix}${name}`));
const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.bigInt(),
  fc.constant(undefined),
);
const key = fc.oneof(
  fc.constantFrom('a', 'params', 'items', 'content', 'env', 'argv', 'data', 'x y', '__proto__'),
  fc.string(),
);
const tree = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    leaf,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(key, tie('node'), { maxKeys: 4 }),
  ),
})).node;

test('a secret under a name that says so never appears, however deep it lies and whatever is around it', () => {
  const path = fc.array(fc.oneof(key, fc.constant(0)), { maxLength: 12 });
  const shape = fc.constantFrom<(secret: string) => unknown>(
    (secret) => secret,
    (secret) => [secret],
    (secret) => ({ inner: secret }),
    (secret) => new Map([['k', secret]]),
    (secret) => Buffer.from(secret),
    (secret) => new Error(secret),
  );
  fc.assert(
    fc.property(path, secretName, shape, tree, tree, (steps, name, wrap, beside, above) => {
      const secret = 'S3CR3T-planted-value';
      let value: unknown = { beside, [name]: wrap(secret), above };
      for (const step of steps) value = step === 0 ? [above, value] : { [step]: value, beside };
      expect(JSON.stringify(redact(value)) ?? '').not.toContain(secret);
    }),
    { numRuns: runs(3000) },
  );
});

test('the input is not touched, and the output is always JSON of bounded size', () => {
  fc.assert(
    fc.property(tree, (value) => {
      const before = structuredClone(value);
      const text = JSON.stringify(redact(freezeDeep(value))) ?? 'undefined';
      expect(value).toEqual(before);
      expect(text.length).toBeLessThan(4 * MAX_TEXT_CHARS + 100 * MAX_VALUES);
    }),
    { numRuns: runs(2000) },
  );
});

test('anything at all can be given', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withBoxedValues: true,
    withSparseArray: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      expect(() => JSON.stringify(redact(value))).not.toThrow();
    }),
    { numRuns: runs(2000) },
  );
});

function freezeDeep<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freezeDeep);
    Object.freeze(value);
  }
  return value;
}

test('a key is shown up to so many characters', () => {
  const keys = (length: number): string[] => Object.keys(redact({ ['é'.repeat(length)]: 1 }) as object);
  expect(keys(MAX_KEY_CHARS)).toEqual(['é'.repeat(MAX_KEY_CHARS)]);
  expect(keys(10 * MAX_KEY_CHARS)[0]?.length).toBeLessThan(2 * MAX_KEY_CHARS);
});
