import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isSecretName,
  kindOfName,
  MAX_KNOWN_NAMES,
  MAX_NAME_CHARS,
} from '../../../src/guard/redact-names.js';
import { runs } from '../../helpers/runs.js';

const SECRETS =
  'password passwd passphrase passcode secret token authorization apikey cookie credential bearer jwt'.split(
    ' ',
  );
const ABOUT =
  'file path stdin name type env prompt ttl age length limit count expiry expires enabled required url endpoint policy'.split(
    ' ',
  );
/** Each ends in a word that, alone, would say that the name is only about a secret. */
const ORDINARY =
  'message image storage page package language usage stage manage account discount viscount profile hostname nickname prototype archetype wavelength username warpath telepath'.split(
    ' ',
  );

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const STYLES: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join('_'),
  (words) => words.join('-'),
  (words) => words.join('.'),
  (words) => words.join(' '),
  (words) => words.join('2'),
  (words) => words.join('_').toUpperCase(),
  (words) => words.map(capital).join('-'),
  (words) => words.map(capital).join(''),
  (words) => words.map((word, i) => (i === 0 ? word : capital(word))).join(''),
];
const style = fc.constantFrom(...STYLES);

describe('a name that goes on after a secret', () => {
  test.each([
    'secret_message',
    'password_account',
    'tokenStorage',
    'SECRET_IMAGE',
    'secretmessage',
    'SECRETMESSAGE',
    'token-package2',
    'secret_éage',
    'secret_e\u0301age',
    'tokenfile', // cannot be told from `tokenprofile` without a dictionary
  ])('%s still holds one', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(kindOfName(name, 'x')).toBe('secret');
  });

  test.each([
    'token_file',
    'tokenFile',
    'TOKEN_FILE',
    'tokenURL',
    'APITokenURL',
    'token_file_2',
    'token.expires',
    'token_expires_at',
    'tokenExpiresIn',
    'TOKEN_EXPIRES_AT',
    'password-stdin',
    '--password-file',
    'Secret-Name',
  ])('%s is about one', (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(isSecretName(name, { inner: 'x' })).toBe(true); // a whole object may hold it after all
  });

  test('in an ordinary word holds one, whatever that word ends in', () => {
    const ending = fc
      .tuple(fc.stringMatching(/^[a-z]{1,6}$/), fc.constantFrom(...ABOUT))
      .map((parts) => parts.join(''))
      .filter((word) => !ABOUT.includes(word));
    fc.assert(
      fc.property(
        fc.constantFrom(...SECRETS),
        fc.oneof(fc.constantFrom(...ORDINARY), ending),
        style,
        (secret, word, write) => {
          expect(isSecretName(write([secret, word]))).toBe(true);
          expect(isSecretName(write(['my', secret, 'for', word]))).toBe(true);
          expect(isSecretName(secret + word)).toBe(true);
        },
      ),
      { numRuns: runs(5000) },
    );
  });

  test('in one of the words that speak about it holds none, however it is written', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SECRETS), fc.constantFrom(...ABOUT), style, (secret, word, write) => {
        expect(isSecretName(write([secret, word]))).toBe(false);
        expect(isSecretName(write([word, secret]))).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });
});

test('a name longer than any is hidden, whatever it says', () => {
  expect(isSecretName('n'.repeat(MAX_NAME_CHARS))).toBe(false);
  expect(isSecretName('n'.repeat(MAX_NAME_CHARS + 1))).toBe(true);
});

test('names are judged the same however many others came between', () => {
  for (let i = 0; i < 2 * MAX_KNOWN_NAMES; i++) {
    expect(isSecretName(`name_${i}`)).toBe(false);
    expect(isSecretName('api_key')).toBe(true);
  }
});
