import * as z from 'zod/mini';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { RpcError } from '../../../../src/base/errors.js';
import {
  defineEvent,
  defineMethod,
  type ParamsOf,
  type RequestOf,
  type ResultOf,
} from '../../../../src/wire/jsonrpc/method.js';
import { MAX_ISSUES } from '../../../../src/base/schema-issues.js';
import { MAX_ECHOED_CHARS, Router, type CallReport } from '../../../../src/wire/jsonrpc/router.js';

const Start = defineMethod({
  name: 'exec.start',
  params: z.object({
    argv: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
    env: z.optional(z.record(z.string(), z.string())),
    mode: z._default(z.enum(['pipe', 'pty']), 'pipe'),
    timeout_ms: z.optional(z.int().check(z.minimum(0), z.maximum(1000))),
    target: z.optional(z.union([z.string(), z.object({ host: z.string() })])),
    path: z.optional(z.string().check(z.refine((path) => path.startsWith('/'), 'must be absolute'))),
  }),
  result: z.object({ process_id: z.string() }),
  errors: ['limit'],
  summary: 'Start a process.',
});
const Exit = defineEvent({
  name: 'exec.exit',
  params: z.object({ exit_code: z.int() }),
  summary: 'A process ended.',
});
const Add = defineMethod({
  name: 'add',
  params: z.object({ a: z.number(), b: z._default(z.number(), 1) }),
  positional: ['a', 'b'],
  result: z.number(),
  errors: [],
  summary: 'Add.',
});

function refusal(params: object | undefined, method = 'exec.start'): RpcError {
  const router = new Router<null>()
    .method(Start, () => ({ process_id: 'p' }))
    .method(Add, ({ a, b }) => a + b);
  try {
    router.call(method, params as Record<string, unknown>, null);
  } catch (thrown) {
    if (thrown instanceof RpcError) return thrown;
    throw thrown;
  }
  throw new Error('it was not refused');
}

test('the types of a method follow from its definition', () => {
  expectTypeOf<ParamsOf<typeof Start>['mode']>().toEqualTypeOf<'pipe' | 'pty'>();
  expectTypeOf<RequestOf<typeof Start>['mode']>().toEqualTypeOf<'pipe' | 'pty' | undefined>();
  expectTypeOf<ResultOf<typeof Start>>().toEqualTypeOf<{ process_id: string }>();
  expectTypeOf<ParamsOf<typeof Exit>>().toEqualTypeOf<{ exit_code: number }>();
  expectTypeOf(Start.name).toEqualTypeOf<'exec.start'>();
});

test('a handler is given checked params with their defaults, and the context', async () => {
  const seen: unknown[] = [];
  const router = new Router<{ user: string }>().method(Start, (params, ctx) => {
    seen.push(params, ctx.user);
    return Promise.resolve({ process_id: 'p_1' });
  });
  await expect(router.call('exec.start', { argv: ['ls'], extra: 1 }, { user: 'ann' })).resolves.toEqual({
    process_id: 'p_1',
  });
  expect(seen).toEqual([{ argv: ['ls'], mode: 'pipe' }, 'ann']);
});

test('a table of methods needs a handler for each, and no name twice', () => {
  const router = new Router<null>().methods(
    { Start, Add },
    { Start: () => ({ process_id: 'p' }), Add: ({ a }) => a },
  );
  expect(router.names).toEqual(['exec.start', 'add']);
  expect(() => router.method(Add, () => 0)).toThrow('twice');
});

test('an early method is answered without its family when its params are plain, else by the family', async () => {
  let loads = 0;
  const router = new Router<null>()
    .early<typeof Add>(
      'add',
      (params) => (Array.isArray(params) ? undefined : { a: 7, b: 1 }),
      ({ a, b }) => a * b,
    )
    .family('', () => {
      loads += 1;
      return Promise.resolve((late) => void late.method(Add, ({ a, b }) => a + b));
    });
  expect(router.call('add', { a: 2 }, null)).toBe(7);
  expect(loads).toBe(0);
  await expect(router.call('add', [2, 3], null)).resolves.toBe(5);
  expect(loads).toBe(1);
  expect(router.call('add', { a: 2, b: 2 }, null)).toBe(4);
});

test('of an unknown method no more is said than will do to recognise it', () => {
  const router = new Router<string>();
  for (const length of [MAX_ECHOED_CHARS, MAX_ECHOED_CHARS + 1, 1_000_000])
    expect(() => router.call('m'.repeat(length), undefined, 'c')).toThrow(
      expect.objectContaining({ data: { method: 'm'.repeat(MAX_ECHOED_CHARS) } }),
    );
});

test('an unknown method is -32601 and names it, whatever it is called', () => {
  for (const method of ['nope', '__proto__', 'constructor', '']) {
    expect(refusal({}, method)).toMatchObject({
      code: -32601,
      message: 'Method not found',
      data: { method },
    });
  }
});

test('params by position are mapped to names where the method allows it, else -32602', () => {
  const router = new Router<null>().method(Add, ({ a, b }) => a + b);
  expect(router.call('add', [2, 3], null)).toBe(5);
  expect(router.call('add', [2], null)).toBe(3);
  expect(refusal([1, 2, 3], 'add')).toMatchObject({
    code: -32602,
    message: 'params: expected at most 2 values, got 3',
  });
  expect(refusal(['ls'])).toMatchObject({
    code: -32602,
    message: 'params: expected an object: params go by name here',
  });
});

test('params that are absent are none', () => {
  expect(refusal(undefined).message).toBe('params.argv: is required (array)');
  const Ping = defineMethod({
    name: 'ping',
    params: z.object({}),
    result: z.null(),
    errors: [],
    summary: '',
  });
  expect(new Router<null>().method(Ping, () => null).call('ping', undefined, null)).toBeNull();
});

describe('a refusal names the field and what was expected', () => {
  test.each([
    [{ argv: 'ls' }, 'params.argv: expected array, got string'],
    [{ argv: null }, 'params.argv: expected array, got null'],
    [{ argv: ['a', 5] }, 'params.argv[1]: expected string, got number'],
    [{ argv: [] }, 'params.argv: must not be empty'],
    [{ argv: [''] }, 'params.argv[0]: must not be empty'],
    [{ argv: ['a'], env: { PATH: 1 } }, 'params.env.PATH: expected string, got number'],
    [{ argv: ['a'], mode: 'x' }, 'params.mode: expected "pipe" or "pty", got "x"'],
    [{ argv: ['a'], timeout_ms: -1 }, 'params.timeout_ms: must be at least 0'],
    [{ argv: ['a'], timeout_ms: 1001 }, 'params.timeout_ms: must be at most 1000'],
    [{ argv: ['a'], timeout_ms: 1.5 }, 'params.timeout_ms: expected a whole number, got 1.5'],
    [{ argv: ['a'], target: 5 }, 'params.target: expected string or object, got number'],
    [{ argv: ['a'], target: { host: 5 } }, 'params.target.host: expected string, got number'],
    [{ argv: ['a'], path: 'x' }, 'params.path: must be absolute'],
  ])('%j', (params, message) => {
    expect(refusal(params)).toMatchObject({ code: -32602, message });
  });

  test('other checks too', () => {
    const Odd = defineMethod({
      name: 'odd',
      params: z.strictObject({
        step: z.optional(z.number().check(z.multipleOf(5))),
        name: z.optional(z.string().check(z.regex(/^a+$/))),
        mail: z.optional(z.email()),
        flag: z.optional(z.literal(true)),
        below: z.optional(z.number().check(z.lt(3))),
        above: z.optional(z.number().check(z.gt(3))),
        custom: z.optional(z.string().check(z.refine(() => false))),
      }),
      result: z.null(),
      errors: [],
      summary: '',
    });
    const router = new Router<null>().method(Odd, () => null);
    const say = (params: Record<string, unknown>): string => {
      try {
        router.call('odd', params, null);
        return '';
      } catch (thrown) {
        return (thrown as RpcError).message;
      }
    };
    expect(say({ step: 3 })).toBe('params.step: must be a multiple of 5');
    expect(say({ name: 'b' })).toBe('params.name: expected text like /^a+$/');
    expect(say({ mail: 'x' })).toBe('params.mail: expected email');
    expect(say({ flag: false })).toBe('params.flag: expected true, got boolean');
    expect(say({ below: 3 })).toBe('params.below: must be less than 3');
    expect(say({ above: 3 })).toBe('params.above: must be more than 3');
    expect(say({ custom: 'x' })).toBe('params.custom: is not valid');
    expect(say({ a: 1, b: 2 })).toBe('params.a: unknown key');
  });

  test('all issues are in the data, up to a cap, and no long value is repeated', () => {
    const secret = 'hunter2'.repeat(10);
    const error = refusal({ argv: Array.from({ length: 40 }, () => ({ secret })), mode: secret });
    const { issues } = error.data as { issues: { path: string; message: string }[] };
    expect(issues).toHaveLength(MAX_ISSUES);
    expect(issues[0]).toEqual({ path: 'argv[0]', message: 'expected string, got object' });
    expect(JSON.stringify(error.data) + error.message).not.toContain(secret);
  });
});

describe('every call is reported once', () => {
  function reporting(): { router: Router<string>; reports: CallReport<string>[] } {
    const reports: CallReport<string>[] = [];
    const router = new Router<string>({ onCall: (report) => reports.push(report) })
      .method(Add, ({ a, b }) => a + b)
      .method(Start, async () => {
        await Promise.resolve();
        throw new RpcError(-32008, 'resource_limit');
      })
      .event(Exit, () => {});
    return { router, reports };
  }

  test('with its result', () => {
    const { router, reports } = reporting();
    router.call('add', [1, 2], 'ctx');
    expect(reports).toEqual([
      { method: 'add', params: [1, 2], ctx: 'ctx', result: 3, durationMs: expect.any(Number) as number },
    ]);
  });

  test('with its error, be it thrown, a bad param or an unknown method', async () => {
    const { router, reports } = reporting();
    await expect(router.call('exec.start', { argv: ['a'] }, 'c')).rejects.toThrow('resource_limit');
    expect(() => router.call('exec.start', {}, 'c')).toThrow('params.argv');
    expect(() => router.call('nope', undefined, 'c')).toThrow('Method not found');
    router.call('exec.exit', { exit_code: 0 }, 'c');
    expect(reports.map((report) => (report.error as RpcError | undefined)?.code)).toEqual([
      -32008,
      -32602,
      -32601,
      undefined,
    ]);
  });

  test('and a reporter that fails does not fail the call', () => {
    const logged: string[] = [];
    const router = new Router<null>({
      onCall: () => {
        throw new Error('disk full');
      },
      log: { error: (message: string) => logged.push(message) } as never,
    }).method(Add, ({ a, b }) => a + b);
    expect(router.call('add', [1, 2], null)).toBe(3);
    expect(logged).toEqual(['a call could not be reported']);
  });
});
