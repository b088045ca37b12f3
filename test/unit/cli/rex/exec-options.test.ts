// How the command line of `rex exec` becomes a request.

import fc from 'fast-check';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment, readWords } from '../../../../src/cli/rex/exec-options.js';
import { parseDuration } from '../../../../src/cli/parse-duration.js';
import { readProcessWords } from '../../../../src/cli/rex/process-words.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

test('the words after -- are the command, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), (rest) => {
      expect(readWords({ rest }, ['box'], {})).toEqual({ target: 'box', argv: rest });
      expect(readWords({ rest }, [], {})).toEqual({ target: undefined, argv: rest });
    }),
  );
});

test('without -- the first word is the target', () => {
  expect(readWords({ rest: undefined }, ['box', 'ls', 'x'], {})).toEqual({
    target: 'box',
    argv: ['ls', 'x'],
  });
  expect(() => readWords({ rest: undefined }, ['box'], {})).toThrow(/which command/);
});

test('an id that makes a start once-only is for what outlives the call', () => {
  expect(() => readWords({ rest: ['true'] }, ['box'], { requestId: 'r' })).toThrow(/needs --detach/);
  expect(readWords({ rest: ['true'] }, ['box'], { requestId: 'r', detach: true }).argv).toEqual(['true']);
});

test('variables: what comes later wins, a bare name is taken from here, a value may hold "="', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-env-'));
  const file = join(folder, 'env');
  writeFileSync(file, '# no\nA=1\r\n  B=b=b\n\n');
  try {
    expect(readEnvironment({ env: ['A=2', 'C'], envFrom: [file] }, { C: 'three' })).toEqual({
      A: '2',
      B: 'b=b',
      C: 'three',
    });
  } finally {
    removeFolder(folder);
  }
  expect(() => readEnvironment({ env: ['D'], envFrom: [] }, {})).toThrow(/no such variable/);
  expect(() => readEnvironment({ env: ['=x'], envFrom: [] }, {})).toThrow(/no name/);
  expect(() => readEnvironment({ env: [], envFrom: [join(folder, 'gone')] }, {})).toThrow(/--env-from/);
});

test('times as people write them', () => {
  expect(['90', '90s', '1.5m', '2h', '500ms', '1d'].map(parseDuration)).toEqual([
    90_000, 90_000, 90_000, 7_200_000, 500, 86_400_000,
  ]);
  for (const wrong of ['', '0', '-1', 'soon', '5 m', '1e9d', '90d'])
    expect(() => parseDuration(wrong)).toThrow(/is no time/);
});

test('a process is named by its id, with or without a target before it', () => {
  expect(readProcessWords(['p_1'], 'logs')).toEqual({ target: undefined, ids: ['p_1'] });
  expect(readProcessWords(['box', 'p_1', 'p_2'], 'kill')).toEqual({ target: 'box', ids: ['p_1', 'p_2'] });
  expect(() => readProcessWords(['box'], 'logs')).toThrow(/which process/);
  expect(() => readProcessWords(['p_1', 'box'], 'logs')).toThrow(/no id/);
});
