// An environment that goes through a shell: nothing of it is lost, changed or run.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { spellEnvironment } from '../../../../src/host/process/spell-environment.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const base = mkdtempSync(join(tmpdir(), 'hawser-spell-'));
afterAll(() => removeFolder(base));
const SHELLS = ['/bin/sh', '/bin/dash', '/bin/bash'].filter((shell) => existsSync(shell));
/** bash sets these in what it starts, whatever it was given. */
const ADDED = new Set(['_', 'SHLVL', 'OLDPWD', 'PWD']);

function through(shell: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const { text, prefix } = spellEnvironment(env);
  const file = join(base, 'text');
  writeFileSync(file, text);
  const script = '. "$0"; exec "$@"';
  const words = ['-c', script, file, ...prefix, '/usr/bin/env', '-0'];
  const { stdout: out } = spawnSync(shell, words, { argv0: 'sh', env: {} });
  const pairs = out.toString('utf8').split('\0').slice(0, -1);
  const found = pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
  return Object.fromEntries(found.filter(([name = '']) => name in env || !ADDED.has(name)));
}

const ODD = [
  'IFS',
  'PPID',
  'OPTIND',
  'PS1',
  'PS4',
  'OLDPWD',
  'LINENO',
  'MAIL',
  'UID',
  'SHLVL',
  'SHELLOPTS',
  'BASH_ENV',

  'ENV',
  'RANDOM',
  'SECONDS',
  'HISTCMD',
  'GROUPS',
  'FUNCNAME',
  'PIPESTATUS',
  'DIRSTACK',
  'POSIXLY_CORRECT',
  'EUID',

  'BASHOPTS',
  'BASH_XTRACEFD',
  'GLOBIGNORE',
  'hawser_dir',
  'hawser_n',
  'TERM',
  'LC_ALL',
  'HISTSIZE',
  'PATH',
  'REPLY',
];

test.each(SHELLS)('names that shells know arrive as they were given through %s', (shell) => {
  const env = Object.fromEntries(ODD.map((name, n) => [name, `${n} a'b "c" $(id) \`id\` \\ é\u0081\n`]));
  expect(through(shell, env)).toEqual(env);
});

test.each(SHELLS)('no variable makes %s run anything', (shell) => {
  const trap = `x[$(touch ${join(base, 'ran')})]`;
  const env = Object.fromEntries(ODD.map((name) => [name, trap]));
  through(shell, { ...env, SHELLOPTS: 'xtrace', PS4: `$(touch ${join(base, 'ran')})` });
  expect(existsSync(join(base, 'ran'))).toBe(false);
});

test('any value arrives', () => {
  const name = fc.oneof(fc.constantFrom(...ODD), fc.stringMatching(/^[A-Za-z_]\w{0,8}$/));
  const value = fc.string({ unit: 'binary', maxLength: 30 }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(fc.dictionary(name, value, { maxKeys: 8 }), fc.constantFrom(...SHELLS), (env, shell) => {
      const wanted = Object.entries(env).map(([key, text]) => [key, Buffer.from(text).toString()]);
      expect(through(shell, env)).toEqual(Object.fromEntries(wanted));
    }),
    { numRuns: 150 },
  );
});
