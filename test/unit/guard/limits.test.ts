import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LimitError, LimitSet, type LimitTable } from '../../../src/guard/limits.js';
import { REXD_LIMITS, type RexdLimit } from '../../../src/rexd/limits.js';

const NAMES = Object.keys(REXD_LIMITS) as RexdLimit[];
const DEFAULTS = {
  default_timeout_ms: 30_000,
  hard_timeout_ms: 300_000,
  max_output_bytes: 1_048_576,
  max_file_read_bytes: 1_048_576,
  max_processes_per_session: 8,
  max_concurrent_sessions: 16,
};

describe('the server', () => {
  test('has the six limits of the specification with its defaults', () => {
    const limits = new LimitSet(REXD_LIMITS);
    expect(limits.toJSON()).toEqual(DEFAULTS);
    expect(JSON.parse(JSON.stringify(limits))).toEqual(DEFAULTS);
    expect(limits.clamped).toEqual([]);
  });

  test('may set any of them, up or down, and leaves the others', () => {
    const limits = new LimitSet(REXD_LIMITS, { max_output_bytes: 8 * 1_048_576, max_concurrent_sessions: 1 });
    expect(limits.toJSON()).toEqual({ ...DEFAULTS, max_output_bytes: 8_388_608, max_concurrent_sessions: 1 });
  });

  test('cannot set more than a limit can hold', () => {
    expect(() => new LimitSet(REXD_LIMITS, { hard_timeout_ms: 2 ** 31 })).toThrow(
      /hard_timeout_ms: expected at most/,
    );
    expect(new LimitSet(REXD_LIMITS, { hard_timeout_ms: 2 ** 31 - 1 }).get('hard_timeout_ms')).toBe(
      2 ** 31 - 1,
    );
  });

  test('that lowers the hard timeout lowers the default timeout with it, silently if it did not name that one', () => {
    const limits = new LimitSet(REXD_LIMITS, { hard_timeout_ms: 10_000 });
    expect(limits.get('default_timeout_ms')).toBe(10_000);
    expect(limits.clamped).toEqual([]);
    const contradicting = new LimitSet(REXD_LIMITS, { hard_timeout_ms: 10_000, default_timeout_ms: 20_000 });
    expect(contradicting.get('default_timeout_ms')).toBe(10_000);
    expect(contradicting.clamped).toEqual([{ name: 'default_timeout_ms', asked: 20_000, given: 10_000 }]);
  });
});

describe('a session', () => {
  const server = new LimitSet(REXD_LIMITS, { max_output_bytes: 4096 });

  test('gets what it asks for when that is less', () => {
    const { limits, clamped } = server.lower({ max_output_bytes: 1, max_processes_per_session: 8 });
    expect(limits.get('max_output_bytes')).toBe(1);
    expect(limits.get('max_processes_per_session')).toBe(8);
    expect(clamped).toEqual([]);
    expect(server.get('max_output_bytes')).toBe(4096); // the server's own set is untouched
  });

  test('is told from the default nobody chose: what the server was given, or a session has lowered', () => {
    expect([server.chosen('max_output_bytes'), server.chosen('hard_timeout_ms')]).toEqual([4096, undefined]);
    const { limits } = server.lower({ hard_timeout_ms: 5, max_file_read_bytes: 1e9 });
    expect(limits.chosen('max_output_bytes')).toBe(4096);
    expect(limits.chosen('hard_timeout_ms')).toBe(5);
    expect(limits.chosen('default_timeout_ms')).toBe(5); // goes with it
    expect(limits.chosen('max_file_read_bytes')).toBeUndefined(); // more than there is: nothing was chosen
    expect(limits.lower({}).limits.chosen('hard_timeout_ms')).toBe(5);
  });

  test('is raised or lowered by who starts the server, and what nobody named stays a default nobody chose', () => {
    const raised = server.with({ max_file_read_bytes: 2 ** 21 });
    expect(raised.toJSON()).toEqual({ ...server.toJSON(), max_file_read_bytes: 2 ** 21 });
    expect([raised.chosen('max_file_read_bytes'), raised.chosen('max_output_bytes')]).toEqual([
      2 ** 21,
      4096,
    ]);
    expect(raised.chosen('hard_timeout_ms')).toBeUndefined();
  });

  test('that asks for more gets the value of the server and is told so', () => {
    const { limits, clamped } = server.lower({ max_output_bytes: 4097, max_file_read_bytes: 1e300 });
    expect(limits.get('max_output_bytes')).toBe(4096);
    expect(clamped).toEqual([
      { name: 'max_output_bytes', asked: 4097, given: 4096 },
      { name: 'max_file_read_bytes', asked: 1e300, given: 1_048_576 },
    ]);
  });

  test('that asks for nothing has the limits of the server; undefined is nothing', () => {
    expect(server.lower({}).limits.toJSON()).toEqual(server.toJSON());
    expect(server.lower({ max_output_bytes: undefined }).limits.toJSON()).toEqual(server.toJSON());
  });

  test('that lowers the hard timeout cannot keep a longer default', () => {
    const { limits } = server.lower({ hard_timeout_ms: 5 });
    expect(limits.toJSON()).toMatchObject({ hard_timeout_ms: 5, default_timeout_ms: 5 });
  });

  test.each([
    0,
    -1,
    -0,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    '5',
    null,
    [5],
    {},
    true,
    5n,
  ])('that asks for %s is refused, and told which limit that was', (value) => {
    const asked = { max_output_bytes: value as number };
    expect(() => server.lower(asked)).toThrow(LimitError);
    expect(() => server.lower(asked)).toThrow(
      /^max_output_bytes: expected a whole number of at least 1, got /,
    );
    expect(() => new LimitSet(REXD_LIMITS, asked)).toThrow(LimitError);
    expect(() => server.within('max_output_bytes', value as number)).toThrow(LimitError);
  });

  test.each(['max_output', 'constructor', '__proto__', 'toString', ''])(
    'that asks for a limit "%s" is told there is none',
    (name) => {
      const asked = Object.fromEntries([[name, 5]]);
      expect(() => server.lower(asked)).toThrow(`${name}: no such limit`);
    },
  );
});

test('a request gets the limit when it asks for nothing or for more, else what it asks for', () => {
  const limits = new LimitSet(REXD_LIMITS);
  expect(limits.within('hard_timeout_ms', undefined)).toBe(300_000);
  expect(limits.within('hard_timeout_ms', 300_001)).toBe(300_000);
  expect(limits.within('hard_timeout_ms', 1)).toBe(1);
});

test('no sequence of sessions lowering sessions ever raises a limit, and what is reported is what was given', () => {
  const asked = fc.record(
    Object.fromEntries(NAMES.map((name) => [name, fc.integer({ min: 1, max: 2 ** 31 - 1 })])),
    {
      requiredKeys: [],
    },
  );
  fc.assert(
    fc.property(asked, fc.array(asked, { maxLength: 4 }), (own, sessions) => {
      let limits = new LimitSet(REXD_LIMITS, { ...own, max_file_read_bytes: 4096 });
      for (const wish of sessions) {
        const { limits: next, clamped } = limits.lower(wish);
        for (const name of NAMES) {
          expect(next.get(name)).toBeLessThanOrEqual(limits.get(name));
          expect(next.get(name)).toBeLessThanOrEqual(wish[name] ?? Number.POSITIVE_INFINITY);
          expect(next.get(name)).toBeGreaterThanOrEqual(1);
        }
        expect(next.get('default_timeout_ms')).toBeLessThanOrEqual(next.get('hard_timeout_ms'));
        const differing = NAMES.filter((name) => wish[name] !== undefined && wish[name] !== next.get(name));
        expect(clamped.map((clamp) => clamp.name)).toEqual(differing);
        limits = next;
      }
    }),
  );
});

test('any table will do, and one whose entries follow each other in a circle still ends', () => {
  const table: LimitTable<'a' | 'b' | 'c'> = {
    a: { default: 5, unit: 'count', summary: 'a', atMost: 'b' },
    b: { default: 4, unit: 'count', summary: 'b', atMost: 'c' },
    c: { default: 9, unit: 'count', summary: 'c', atMost: 'a' },
  };
  expect(new LimitSet(table).toJSON()).toEqual({ a: 4, b: 4, c: 4 });
  expect(new LimitSet(table, { c: 2 }).toJSON()).toEqual({ a: 2, b: 2, c: 2 });
});

test('values are frozen: nobody raises them by the back door', () => {
  const values = new LimitSet(REXD_LIMITS).toJSON() as Record<string, number>;
  expect(() => (values['max_output_bytes'] = 1e9)).toThrow(TypeError);
});

test('every limit has a unit and a sentence for the documentation', () => {
  for (const name of NAMES) {
    const { unit, summary } = REXD_LIMITS[name];
    expect(name.endsWith('_ms')).toBe(unit === 'ms');
    expect(name.endsWith('_bytes')).toBe(unit === 'bytes');
    expect(summary).toMatch(/^[A-Z].*\.$/);
  }
});
