import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidPathError } from '../../../../src/host/files/path-errors.js';
import {
  cleanPath,
  MAX_ASKED_CHARS,
  decodeName,
  encodeName,
  isRawName,
  MAX_PATH_BYTES,
  toSystemPath,
} from '../../../../src/host/files/names.js';
import { runs } from '../../../helpers/runs.js';

describe('names as strings', () => {
  test('any bytes survive decoding and encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const name = decodeName(Buffer.from(bytes));
        expect(encodeName(name)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: runs(2000) },
    );
  });

  test('UTF-8 names are the strings they spell, and are handed to the system as strings', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(decodeName(Buffer.from(text))).toBe(text);
        expect(toSystemPath(text)).toBe(text);
        expect(isRawName(text)).toBe(false);
      }),
    );
  });

  test('stray bytes become lone surrogates', () => {
    const name = decodeName(Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0xc3]));
    expect(name).toBe('a\udcffé\udcc3');
    expect(isRawName(name)).toBe(true);
  });

  test('no string can smuggle a slash, a dot or a NUL through the escapes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0xd800, max: 0xdfff }).map((u) => String.fromCharCode(u)) }),
        (text) => {
          const bytes = encodeName(text);
          expect([...bytes].every((byte) => byte >= 0x80)).toBe(true);
        },
      ),
    );
    expect(encodeName('\udc2e\udc2e\udc2fetc').toString()).toBe('\u{FFFD}\u{FFFD}\u{FFFD}etc');
  });
});

describe('clean paths', () => {
  test.each([
    ['/srv/app/../app2//x/./y/', '/srv/app2/x/y'],
    ['/../..', '/'],
    ['/a\nb', '/a\nb'],
    ['/~/x', '/~/x'],
    ['/%2e%2e/x', '/%2e%2e/x'],
    ['/a\udcff', '/a\udcff'],
  ])('%j is %j', (path, clean) => {
    expect(cleanPath(path)).toBe(clean);
  });

  test.each(['', 'relative', './x', '~/x', '/a\0b', '/\ud800', '/\udc2e\udc2e', '/\udc2fetc'])(
    '%j is refused',
    (path) => {
      expect(() => cleanPath(path)).toThrow(InvalidPathError);
    },
  );

  test('a path of as many bytes as the kernel takes passes, one more is refused', () => {
    const longest = `/${'é'.repeat((MAX_PATH_BYTES - 2) / 2)}`;
    expect(cleanPath(longest)).toBe(longest);
    expect(() => cleanPath(`${longest}x`)).toThrow(InvalidPathError);
    expect(cleanPath(`/${'./'.repeat(MAX_PATH_BYTES)}x`)).toBe('/x');
    expect(() => cleanPath(`/${'./'.repeat(2 * MAX_PATH_BYTES)}x`)).toThrow(InvalidPathError);
  });
});

test('a path may be long as it is asked for when it is short once it is clean, but not for ever', () => {
  const long = (chars: number): string => `${'/.'.repeat(chars / 2 - 1)}/x`;
  expect(long(MAX_ASKED_CHARS)).toHaveLength(MAX_ASKED_CHARS);
  expect(cleanPath(long(MAX_ASKED_CHARS))).toBe('/x');
  expect(() => cleanPath(long(MAX_ASKED_CHARS + 2))).toThrow('path too long');
});
