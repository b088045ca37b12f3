import { expect, test } from 'vitest';
import { MAX_TOKEN_INPUT_BYTES } from '../../../../src/cli/hugind/run-verb.js';
import { readWords } from '../../../../src/cli/hugind/read-words.js';
import { sayBytes } from '../../../../src/cli/hugind/say-bytes.js';
import { usageOf, VERBS } from '../../../../src/cli/hugind/verbs.js';
import { MAX_TOKEN_CHARS } from '../../../../src/hugind/protocol/config.js';
import { METHODS } from '../../../../src/hugind/protocol.js';

test('every verb is a method of the bridge, and has an example', () => {
  for (const { noun, verb, examples } of VERBS) {
    expect(Object.keys(METHODS)).toContain(`${noun}.${verb}`);
    expect(examples.length).toBeGreaterThan(0);
  }
});

test('flags and words come in any order', () => {
  const usage = usageOf('config', 'init');
  const { flags, words } = readWords(usage, ['a', '--ctx', '512', 'm.gguf', '--json', '--', '--odd']);
  expect(words).toEqual(['a', 'm.gguf', '--odd']);
  expect([flags.value('ctx'), flags.has('json')]).toEqual(['512', true]);
  expect(() => readWords(usage, ['--ctxx', '1'])).toThrow('did you mean --ctx?');
});

test('sizes are said as people say them; the input for a token has room for one', () => {
  expect([0, 1023, 1536, 5 * 1024 ** 3].map(sayBytes)).toEqual([
    '0 bytes',
    '1023 bytes',
    '1.5 KiB',
    '5.0 GiB',
  ]);
  expect(MAX_TOKEN_INPUT_BYTES).toBeGreaterThan(MAX_TOKEN_CHARS);
});
