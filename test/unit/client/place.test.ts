// Paths with and without a target, and addresses of hosts.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatDestination,
  MAX_DESTINATION_CHARS,
  parseDestination,
} from '../../../src/client/rex/destination.js';
import { formatPlace, parsePlace, PlaceError } from '../../../src/client/rex/place.js';
import { TargetsError } from '../../../src/client/rex/target.js';
import { runs } from '../../helpers/runs.js';

/** What it gives, or undefined where it refuses as it should. */
function attempt<T>(read: () => T, refusal: new (message: string) => Error): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof refusal) return undefined;
    throw thrown;
  }
}

describe('a place', () => {
  test.each([
    ['a.txt', undefined, 'a.txt'],
    ['web:a.txt', 'web', 'a.txt'],
    ['web:/srv/a:b', 'web', '/srv/a:b'],
    ['local:a', 'local', 'a'],
    [':a', '', 'a'],
    ['web:', 'web', '.'],
    [':', '', '.'],
    ['./a:b', undefined, './a:b'],
    ['/srv/a:b', undefined, '/srv/a:b'],
    ['dir/a:b', undefined, 'dir/a:b'],
    ['web:new\nline', 'web', 'new\nline'],
    ['-', undefined, '-'],
  ])('%j is on %j at %j', (text, alias, path) => {
    expect(parsePlace(text)).toEqual({ alias, path });
  });

  test.each(['', 'a b:c', 'ä:c', '-x:c', 'nul\0'])('%j is refused', (text) => {
    expect(() => parsePlace(text)).toThrow(PlaceError);
  });

  test('with a colon in the name of a file says how it is written', () => {
    expect(() => parsePlace('my file:1')).toThrow('write "./my file:1"');
  });

  test('is the same again when written and read', () => {
    const name = fc.constantFrom(undefined, '', 'local', 'web', 'a.b-c_d', '0');
    const path = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(name, path, (alias, path) => {
        const back = parsePlace(formatPlace({ alias, path }));
        const plain = alias === undefined && /^[^/]*:/.test(path) ? `./${path}` : path;
        expect(back).toEqual({ alias, path: plain });
      }),
      { numRuns: runs(5000) },
    );
  });

  test('of any text is a place or a refusal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const read = attempt(() => parsePlace(text), PlaceError);
        const { alias, path } = read ?? { alias: undefined, path: text };
        expect(read === undefined || path !== '').toBe(true);
        expect(alias !== undefined || path === text).toBe(true);
      }),
      { numRuns: runs(5000) },
    );
  });
});

describe('an address', () => {
  test.each([
    ['web', { host: 'web' }],
    ['deploy@web', { host: 'web', user: 'deploy' }],
    ['deploy@web.example:2222', { host: 'web.example', user: 'deploy', port: 2222 }],
    ['ssh://deploy@web:22', { host: 'web', user: 'deploy', port: 22 }],
    ['ssh://web/', { host: 'web' }],
    ['::1', { host: '::1' }],
    ['me@fe80::1%eth0', { host: 'fe80::1%eth0', user: 'me' }],
    ['me@[::1]:2200', { host: '::1', user: 'me', port: 2200 }],
    ['DOMAIN\\me@web', { host: 'web', user: 'DOMAIN\\me' }],
  ])('%s', (text, expected) => {
    expect(parseDestination(text)).toEqual(expected);
  });

  test.each([
    '',
    '@web',
    'web:',
    'web:0',
    'web:65536',
    'web:x',
    '-oProxyCommand=x',
    'me@-x',
    'a b',
    'a/b',
    'x'.repeat(MAX_DESTINATION_CHARS + 1),
  ])('%j is refused', (text) => {
    expect(() => parseDestination(text)).toThrow(TargetsError);
  });

  test('is the same again when written and read, and never an option', () => {
    const user = fc.option(fc.stringMatching(/^[a-z_][a-z0-9_.-]{0,12}$/), { nil: undefined });
    const host = fc.oneof(
      fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/),
      fc.ipV6().filter((ip) => !ip.includes('.')),
    );
    const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
    fc.assert(
      fc.property(user, host, port, (user, host, port) => {
        const given = { host, ...(user !== undefined && { user }), ...(port !== undefined && { port }) };
        expect(parseDestination(formatDestination(given))).toEqual(given);
      }),
      { numRuns: runs(3000) },
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { host, user = '' } = attempt(() => parseDestination(text), TargetsError) ?? { host: 'x' };
        expect(host.startsWith('-') || user.startsWith('-') || /\s/.test(host)).toBe(false);
      }),
      { numRuns: runs(3000) },
    );
  });
});
