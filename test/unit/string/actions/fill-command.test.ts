import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  fillCommand,
  MAX_ENVIRONMENT_VALUE_BYTES,
  UnfitValueError,
} from '../../../../src/string/actions/fill-command.js';
import { removeFolder } from '../../../helpers/remove-folder.js';
import { runs } from '../../../helpers/runs.js';

const folder = mkdtempSync(join(tmpdir(), 'fill-command-'));
afterAll(() => removeFolder(folder));

interface Given {
  readonly fields?: Readonly<Record<string, string>>;
  readonly declared?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function fill(command: string, { fields = {}, declared = [], args = [], env = {} }: Given = {}) {
  return fillCommand(
    command,
    {
      slot: ({ name }) =>
        Object.hasOwn(fields, name) ? { text: fields[name] ?? '' } : declared.includes(name) ? {} : undefined,
      spread: () => Object.entries(fields).flatMap(([name, value]) => [`--${name}`, value]),
      isOwn: (name) => Object.hasOwn(env, name),
      isSet: (name) => name === 'HOME',
    },
    args,
  );
}

function bash(command: string, given: Given = {}): string {
  const filled = fill(command, given);
  const { stdout, stderr } = spawnSync('/bin/bash', ['-c', filled.script, 'bash', ...(given.args ?? [])], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: '/a home', ...given.env, ...filled.env },
  });
  expect(stderr.toString()).toBe('');
  return stdout.toString();
}

/** Ways in which authors put a value into a command, each printing it and nothing else. */
const FORMS = [
  `printf %s {x}`,
  `printf %s "{x}"`,
  `printf %s '{x}'`,
  `printf %s $'{x}'`,
  `printf %s ""{x}''`,
  `printf %s "$(printf %s {x})"`,
  'printf %s "`printf %s {x}`"',
  `X={x}; printf %s "$X"`,
  `X="{x}"; printf %s "$X"`,
  `cat <<< {x} | head -c -1`,
  `cat <<< "{x}" | head -c -1`,
  `case {x} in *) printf %s "{x}";; esac`,
  `[[ {x} == "{x}" ]] && printf %s {x}`,
  `if true; then (printf %s "{x}"); fi`,
  `f() { printf %s "$1"; }; f {x}`,
  `printf %s "$({ printf %s '{x}'; })""" && :`,
  `node -e 'process.stdout.write(process.argv[1])' -- {x}`,
  `sh -c 'printf %s "$1"' sh {x}`,
  `printf %s $SECRET`,
  `printf %s "$SECRET"`,
  `printf %s '$SECRET'`,
  `printf %s "\${SECRET}"`,
  `printf %s \${SECRET}`,
];
/** Command substitution drops line ends at the end, which is bash's own doing. */
const keepsLineEnds = (form: string) => !/\$\(|`/u.test(form);
const SLOW = /node/u;

const CORPUS = [
  '$(touch pwned)',
  '`touch pwned`',
  '"; touch pwned; "',
  "'; touch pwned; '",
  '; touch pwned',
  '| touch pwned',
  '&& touch pwned',
  '\n touch pwned \n',
  '> pwned',
  '${x:=$(touch pwned)}',
  'a[$(touch pwned)]',
  '$((a[$(touch pwned)]))',
  '\\',
  '\\"',
  "\\'",
  '"',
  "'",
  '""',
  '* ? [a-z]* ~ {a,b} !! !$',
  '-n',
  '-e',
  '--',
  'a  b\tc',
  ' leading and trailing ',
  'line\n\nline\n',
  'ünï ☃ 𝒞',
  '%s%n\\x41\\101',
  '{x} {y} $x $HOME ${HOME}',
  '',
  'x'.repeat(64 * 1024),
  '$(touch pwned)"\''.repeat(4096),
];

describe('values arrive to the byte, and nothing of them is run', () => {
  /** One bash for all: each form with a slot, a secret of its own. What bash has printed, for each. */
  const printAll = (pairs: readonly (readonly [form: string, value: string])[]): string[] => {
    const numbered = pairs.map(([form], n) =>
      form.replaceAll('{x}', `{x${n}}`).replaceAll('SECRET', `SECRET${n}`),
    );
    const named = (prefix: string) =>
      Object.fromEntries(pairs.map(([, value], n) => [`${prefix}${n}`, value]));
    const out = bash(numbered.map((form) => `${form}; printf '\\0'`).join('; '), {
      fields: named('x'),
      env: named('SECRET'),
    });
    return out.split('\0').slice(0, -1);
  };

  test.each(FORMS)('%s', (form) => {
    const values = SLOW.test(form) ? CORPUS.slice(0, 3) : CORPUS;
    const printed = printAll(values.map((value) => [form, value]));
    expect(printed).toEqual(keepsLineEnds(form) ? values : values.map((value) => value.replace(/\n+$/u, '')));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('$ARGS', () => {
    expect(bash(String.raw`printf '%s\0' $ARGS`, { args: CORPUS })).toBe(
      CORPUS.map((each) => `${each}\0`).join(''),
    );
    const [value = ''] = CORPUS;
    for (const form of ['printf %s "$ARGS"', `printf %s '$ARGS'`])
      expect(bash(form, { args: [value] })).toBe(value);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('any text, in any form', () => {
    const value = fc
      .oneof(
        fc.string({ unit: 'binary' }),
        fc
          .array(fc.constantFrom(...CORPUS.slice(0, 25), '$', '(', ')', '`', '{', '}', '\n'), {
            maxLength: 6,
          })
          .map((all) => all.join('')),
      )
      .map((text) => text.replaceAll('\0', '').toWellFormed());
    const form = fc.constantFrom(...FORMS.filter((each) => keepsLineEnds(each) && !SLOW.test(each)));
    fc.assert(
      fc.property(fc.array(fc.tuple(form, value), { minLength: 1, maxLength: 40 }), (pairs) => {
        expect(printAll(pairs)).toEqual(pairs.map(([, text]) => text));
      }),
      { numRuns: runs(300, 10) },
    );
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });

  test('no value is in the text that bash is given', () => {
    const { script, env } = fill(`echo {a} "{a}" '{a}' $SECRET '$SECRET'`, {
      fields: { a: 'value' },
      env: { SECRET: 'hidden' },
    });
    expect(script).toBe(
      `echo "\${STRING_SLOT_1}" "\${STRING_SLOT_2}" ''"\${STRING_SLOT_3}"'' "\${SECRET}" ''"\${SECRET}"''`,
    );
    expect(Object.values(env)).toEqual(['value', 'value', 'value']);
  });
});

describe('what a slot is', () => {
  test('one that nobody knows stays as it is', () => {
    expect(bash(`echo '{print}' {a,b} {} | tr -d '\\n'`)).toBe('{print} a b {}');
  });

  test('a field that was not given leaves no word, an empty one does', () => {
    expect(bash(`printf '[%s]' a {x} b`, { declared: ['x'] })).toBe('[a][b]');
    expect(bash(`printf '[%s]' a {x} b`, { fields: { x: '' } })).toBe('[a][][b]');
    expect(bash(`printf '[%s]' a "{x}" --x={x}`, { declared: ['x'] })).toBe('[a][][--x=]');
  });

  test('{...args} is every field as an option', () => {
    expect(bash(`printf '[%s]' {...args}`, { fields: { a: 'x y', b: '$(id)' } })).toBe(
      '[--a][x y][--b][$(id)]',
    );
  });

  test('$ARGS are words of their own', () => {
    expect(bash(`printf '[%s]' $ARGS`, { args: ['a b', '; id', ''] })).toBe('[a b][; id][]');
    expect(bash(`printf '[%s]' "$ARGS"`, { args: ['a b', 'c'] })).toBe('[a b c]');
  });

  test('variables of the shell are left to it', () => {
    expect(bash(`for f in a b; do printf %s $f; done; printf %s '$NF' "\${f}"`)).toBe('ab$NFb');
    expect(bash('printf [%s] $HOME')).toBe('[/a home]');
  });

  test('a comment and an escaped slot are no slots', () => {
    expect(bash(String.raw`printf %s \{x} # {x}`, { fields: { x: 'value' } })).toBe('{x}');
  });

  test('a command cannot be given a NUL', () => {
    expect(() => fill('echo {x}', { fields: { x: 'a\0b' } })).toThrow(UnfitValueError);
    expect(() => fill('echo {...args}', { fields: { x: 'a\0b' } })).toThrow(UnfitValueError);
  });

  test('what is larger than MAX_ENVIRONMENT_VALUE_BYTES is for a file', () => {
    const { env, large } = fill('echo {x} {y}', {
      fields: { x: 'x'.repeat(MAX_ENVIRONMENT_VALUE_BYTES), y: 'y'.repeat(MAX_ENVIRONMENT_VALUE_BYTES + 1) },
    });
    expect(Object.keys(env)).toEqual(['STRING_SLOT_1']);
    expect(Object.keys(large)).toEqual(['STRING_SLOT_2']);
  });

  test('what is shown has the values, but never those of the environment', () => {
    const { shown } = fill(`x {a} "{a}" '{a}' $SECRET $ARGS`, {
      fields: { a: "it's" },
      env: { SECRET: 'hidden' },
      args: ['p q'],
    });
    expect(shown).toBe(String.raw`x 'it'\''s' ""'it'\''s'"" 'it'\''s' $SECRET 'p q'`);
  });
});

const PIECES = [
  'echo |{x}|{x}| |"|\'|$(|)|`|$((|))|${A|}|[[ | ]]|;| -gt 3|\\|#|$|(|A=|A[|]|<<<| -v |test |&& |$[|((|let '.split(
    '|',
  ),
  '| cat ',
].flat();

describe('where quotes do not help', () => {
  const HOSTILE = 'a[$(touch pwned)]';
  test.each([
    'eval "echo {x}"',
    'eval echo {x}',
    "bash -c 'echo {x}'",
    'bash -o pipefail -c "echo {x}"',
    'find . -exec sh -c "echo {x}" \\;',
    'env A=b /bin/sh -ec "{x}"',
    'python3 -c \'print("{x}")\'',
    'node -e "console.log({x})"',
    'node -p {x}',
    "perl -ne 'print {x}'",
    'echo $(( {x} + 1 ))',
    'echo $[ {x} + 1 ]',
    '(( {x} > 3 )) && echo more',
    'if (( {x} > 3 )); then echo more; fi',
    'for ((i=0; i<{x}; i++)); do echo $i; done',
    'let n={x}',
    '[[ {x} -gt 3 ]] && echo more',
    'if [[ 3 -lt {x} ]]; then echo more; fi',
    '[[ -v {x} ]]',
    'test -v {x}',
    'echo ${PATH:{x}:2}',
    'echo ${arr[{x}]}',
    'arr[{x}]=1',
    'unset {x}',
    'declare {x}',
    'read {x}',
    'printf -v {x} a',
    'trap "{x}" EXIT',
    'ssh host ls {x}',
    'awk "/{x}/ {print}" file',
    "sed -e 's/a/{x}/' file",
    'sed -n {x}p file',
    'su me -c "{x}"',
  ])('%s is refused', (command) => {
    expect(() => fill(command, { fields: { x: HOSTILE } })).toThrow(UnfitValueError);
    expect(() => fill(command, { fields: { x: '5' } })).not.toThrow();
  });

  test.each([
    'python3 ./scripts/x.py sub -c {x} "{x}"',
    'node ./x.mjs -e {x}',
    'bash ./run.sh -c {x}',
    'awk -v x={x} "{print x}"',
    "grep -e {x} -- 'file'",
    'export A={x}',
    '[ {x} -eq 1 ]',
    '[[ {x} == a ]]',
    'git log --grep {x}',
    'echo "$(echo {x})"',
  ])('%s is not', (command) => {
    expect(() => fill(command, { fields: { x: HOSTILE } })).not.toThrow();
  });

  test('bash calculates with numbers', () => {
    expect(bash('printf %s $(( {x} + 1 )) ${arr[{x}]-none}', { fields: { x: '41' } })).toBe('42none');
  });

  test('whatever the command, no value is run', () => {
    const piece = fc.constantFrom(...PIECES);
    const command = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
    const value = fc.constantFrom(
      HOSTILE,
      '$(touch pwned)',
      '`touch pwned`',
      ';touch pwned;',
      "';touch pwned;'",
      '";touch pwned;"',
    );
    const fits = (text: string, x: string): string[] => {
      try {
        return [fill(text, { fields: { x } }).script];
      } catch {
        return [];
      }
    };
    fc.assert(
      fc.property(fc.array(command, { minLength: 20, maxLength: 60 }), value, (commands, x) => {
        const scripts = commands.flatMap((text) => fits(text, x));
        const slots = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`STRING_SLOT_${n + 1}`, x]));
        spawnSync('/bin/bash', ['-c', 'for s in "$@"; do (eval "$s"); done', 'bash', ...scripts], {
          cwd: folder,
          env: { PATH: process.env['PATH'] ?? '', ...slots },
          stdio: 'ignore',
        });
        expect(existsSync(join(folder, 'pwned')), scripts.join('\n')).toBe(false);
      }),
      { numRuns: runs(300, 10) },
    );
  });
});

describe('where a value would be read once more, it has to be harmless', () => {
  const evil = '$(touch pwned)';
  test.each([
    'bash -c "echo {...args}"',
    'eval echo {...args}',
    'ssh host {...args}',
    'python3 -c "{...args}"',
    `perl -e'print "{x}"'`,
    `python3 -c'print("{x}")'`,
    `node --eval="{x}"`,
    'bash -cx "{x}"',
    'bash -c -- "{x}"',
    'bash -eo pipefail -c "{x}"',
    `sed -e's/a/{x}/'`,
    'declare -i n={x}',
    '[[ {x} -eq 1 ]]',
    '[[ 1 -lt "{x}" ]]',
  ])('%s', (command) => {
    expect(() => fill(command, { fields: { x: evil } })).toThrow(UnfitValueError);
  });

  test.each(['bash -c "echo $ARGS"', 'eval $ARGS', 'ssh host $ARGS', 'echo $(( $ARGS ))', 'let x=$ARGS'])(
    '%s',
    (command) => {
      expect(() => fill(command, { args: ['a', evil] })).toThrow(UnfitValueError);
    },
  );

  test('a name that bash would look up and calculate with is none for a comparison', () => {
    const command = '[[ {x} -eq 1 ]]; echo {y}';
    const fields = { x: 'STRING_SLOT_2', y: 'a[$(touch pwned)]' };
    expect(() => fill(command, { fields })).toThrow(UnfitValueError);
    expect(bash('[[ {x} -eq 1 ]] && echo {y}', { fields: { x: '1', y: 'a[0]' } })).toBe('a[0]\n');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('what is harmless goes on to work, paths too', () => {
    expect(bash('bash -c "echo $ARGS"', { args: ['a/b', 'c'] })).toBe('a/b c\n');
    expect(bash('bash -c "echo {...args}"', { fields: { x: '/tmp/y' } })).toBe('--x /tmp/y\n');
    expect(bash(`bash -c 'echo "$1"' bash {x}`, { fields: { x: evil } })).toBe(`${evil}\n`);
    expect(bash('[[ {x} == a* && 1 -eq 1 ]] && echo yes', { fields: { x: 'abc' } })).toBe('yes\n');
  });
});
