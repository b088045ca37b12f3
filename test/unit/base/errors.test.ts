import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  errnoOf,
  INTERNAL_ERROR,
  LocalError,
  RpcError,
  toError,
  toWireError,
} from '../../../src/base/errors.js';

const ANONYMOUS = { code: INTERNAL_ERROR, message: 'Internal error' };

test('an RpcError crosses the wire with its code, message and data, and nothing else', () => {
  const error = new RpcError(-32002, 'outside', { data: { path: '/etc' }, cause: new Error('inner secret') });
  expect(toWireError(error)).toEqual({ code: -32002, message: 'outside', data: { path: '/etc' } });
  expect(Object.keys(toWireError(new RpcError(-32601, 'no such method')))).toEqual(['code', 'message']);
});

test('data that is false, 0, empty or null is data; only undefined is absent', () => {
  for (const data of [false, 0, '', null])
    expect(toWireError(new RpcError(1, 'x', { data }))).toHaveProperty('data', data);
  expect(toWireError(new RpcError(1, 'x', { data: undefined }))).not.toHaveProperty('data');
});

test('a subclass of RpcError is an RpcError', () => {
  class Refused extends RpcError {}
  expect(toWireError(new Refused(-32001, 'no'))).toEqual({ code: -32001, message: 'no' });
});

test("a stranger's code, message and data are never trusted", () => {
  const strangers = [
    Object.assign(new Error('password is hunter2'), { code: -32001, data: { secret: 1 } }),
    { name: 'RpcError', code: -32001, message: 'not one of ours' },
    new LocalError('timeout', 'a local fact', { facts: { path: '/x' } }),
    'a string',
    undefined,
    null,
    Object.create(null),
  ];
  for (const stranger of strangers) expect(toWireError(stranger)).toEqual(ANONYMOUS);
});

test('whatever is thrown, toWireError answers and gives nothing of it away', () => {
  fc.assert(
    fc.property(fc.anything(), (thrown) => {
      expect(toWireError(thrown)).toEqual(ANONYMOUS);
    }),
  );
});

test('toError keeps an Error and makes one of anything else, without throwing', () => {
  const error = new TypeError('kept');
  expect(toError(error)).toBe(error);
  expect(toError('text').message).toBe('text');
  expect(toError(undefined).message).toBe('undefined');
  expect(toError(Symbol('s')).message).toBe('Symbol(s)');
  const hostile = {
    toString() {
      throw new Error('no');
    },
  };
  expect(toError(hostile)).toBeInstanceOf(Error);
  expect(toError(hostile).cause).toBe(hostile);
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (thrown) => toError(thrown) instanceof Error),
  );
});

test('errnoOf names the errno of a system error only', () => {
  let system: unknown;
  try {
    readFileSync('/no/such/file');
  } catch (error) {
    system = error;
  }
  expect(errnoOf(system)).toBe('ENOENT');
  expect(errnoOf(Object.assign(new Error('dns'), { code: 'EAI_AGAIN' }))).toBe('EAI_AGAIN');
  expect(errnoOf(new LocalError('closed', 'not an errno'))).toBeUndefined();
  expect(errnoOf(Object.assign(new Error('node'), { code: 'ERR_INVALID_ARG_TYPE' }))).toBeUndefined();
  expect(errnoOf(new RpcError(-32602, 'numeric'))).toBeUndefined();
  expect(errnoOf({ code: 'ENOENT' })).toBeUndefined();
});

test('a LocalError has a code to branch on, facts for the log, and no cause unless given', () => {
  const cause = new Error('why');
  const error = new LocalError('lane_full', 'full', { facts: { limit: 0 }, cause });
  expect(error).toMatchObject({ name: 'LocalError', code: 'lane_full', facts: { limit: 0 }, cause });
  expect('cause' in new LocalError('x', 'y')).toBe(false);
  expect(new LocalError('x', 'y').facts).toEqual({});
});
