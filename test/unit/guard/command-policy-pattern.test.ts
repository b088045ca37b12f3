import { basename } from 'node:path/posix';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CommandPolicy } from '../../../src/guard/command-policy.js';
import {
  type CommandPattern,
  CommandRuleError,
  compilePattern,
  MAX_PATTERN_CHARS,
  MAX_RULES,
  matchesNarrowly,
  matchesWidely,
} from '../../../src/guard/command-policy-pattern.js';
import { runs } from '../../helpers/runs.js';

function matches(pattern: CommandPattern, argv: string[]): boolean {
  const command = {
    argv,
    program: argv[0] ?? '',
    base: basename(argv[0] ?? ''),
    trusted: true,
    untouched: true,
    open: false,
  };
  const compiled = compilePattern(pattern, 'deny[0]');
  const widely = matchesWidely(compiled, command);
  if (matchesNarrowly(compiled, command) && !widely) throw new Error('allows what it would not refuse');
  return widely;
}

test.each<[CommandPattern, string[], boolean]>([
  ['git', ['git'], true],
  ['git', ['git', 'anything'], true],
  ['git', ['gitk'], false],
  ['git*', ['gitk'], true],
  ['gi?', ['git'], true],
  ['gi?', ['gi'], false],
  ['*', ['whatever', 'x'], true],
  ['git push', ['git'], false],
  ['git push', ['git', 'push', 'x'], true],
  ['git push $', ['git', 'push', 'x'], false],
  ['git push $', ['git', 'push'], true],
  ['git $', ['git'], true],
  ['git $', ['git', ''], false],
  ['git ** push', ['git', 'push'], true],
  ['git ** push', ['git', '-C', '/x', 'push', 'y'], true],
  ['git ** push $', ['git', 'push', 'y'], false],
  ['git ** ** push $', ['git', 'a', 'push'], true],
  ['git * push', ['git', 'push'], false],
  ['git --force*', ['git', '--force-with-lease'], true],
  ['git *force*', ['git', '--enforced'], true],
  ['git  \t push ', ['git', 'push'], true],
  ['curl http://*', ['curl', 'http://a/b?c'], true],
  ['echo \\*', ['echo', '*'], true],
  ['echo \\*', ['echo', 'x'], false],
  ['echo \\$', ['echo', '$'], true],
  ['echo a[b]', ['echo', 'a[b]'], true],
  [['echo', 'two words'], ['echo', 'two words'], true],
  [['echo', ''], ['echo', ''], true],
  [['echo', ''], ['echo', 'x'], false],
  [['echo', 'a\nb'], ['echo', 'a\nb'], true],
  ['/usr/bin/*', ['/usr/bin/x'], true],
  ['/usr/bin/../sbin/x', ['/usr/sbin/x'], true],
  ['/usr/bin/x', ['/usr/sbin/x'], true], // one folder on some systems
  ['/bin/rm', ['/usr/bin/rm'], true],
  ['/usr/bin/rm', ['/bin/rm'], true],
  ['/bin/*', ['/usr/bin/rm'], true],
  ['/usr/*', ['/bin/rm'], true],
  ['/bin/rm -rf', ['/usr/bin/rm', '-rf'], true],
  ['/bin/rm -rf', ['/usr/bin/rm', '-i'], false],
  ['/bin/rm', ['/usr/bin/rmdir'], false],
  ['/bin/rm', ['/srv/bin/rm'], false],
  ['/srv/bin/rm', ['/bin/rm'], false],
  ['/bin/rm', ['/usr/bin/x/rm'], false],
])('%j against %j: %s', (pattern, argv, expected) => {
  expect(matches(pattern, argv)).toBe(expected);
});

test('a permission by path is for that path alone', () => {
  const policy = new CommandPolicy({ allow: ['/usr/local/bin/tool'] });
  expect(policy.decide({ argv: ['/usr/local/bin/tool'] }).allowed).toBe(true);
  expect(policy.decide({ argv: ['/usr/bin/tool'] }).allowed).toBe(false);
});

test.each<[unknown, RegExp]>([
  ['', /^deny\[1\] "": names no program$/],
  ['   ', /names no program/],
  [[], /names no program/],
  [['', 'x'], /names no program/],
  ['bin/rm', /^deny\[1\] "bin\/rm": expected a bare name or an absolute path$/],
  ['./rm', /absolute path/],
  ['** x', /begins with \*\*/],
  ['$', /begins with \$/],
  ['git $ push', /may only come last/],
  ['git push\\', /^deny\[1\] "git push\\\\": ends in a backslash$/],
  ['rm\\', /ends in a backslash/],
  [5, /expected words/],
  [['rm', 5], /expected words/],
  [null, /expected words/],
  [`rm ${'x'.repeat(MAX_PATTERN_CHARS)}`, /longer than 4096 characters/],
])('a rule %j is refused by name', (pattern, message) => {
  const make = (): CommandPolicy => new CommandPolicy({ deny: ['ls', pattern as CommandPattern] });
  expect(make).toThrow(CommandRuleError);
  expect(make).toThrow(message);
});

test('each list is named in its errors, and no list may be without end', () => {
  expect(() => new CommandPolicy({ allow: ['a/b'] })).toThrow(/^allow\[0\]/);
  expect(() => new CommandPolicy({ sudo: ['a', 'a/b'] })).toThrow(/^sudo\[1\]/);
  expect(() => new CommandPolicy({ classes: ['harmless' as 'write'] })).toThrow(
    'classes: no class "harmless"',
  );
  const rules = Array.from({ length: MAX_RULES + 1 }, () => 'rm');
  expect(() => new CommandPolicy({ deny: rules })).toThrow(`deny: more than ${MAX_RULES} rules`);
  expect(() => new CommandPolicy({ deny: rules.slice(1) })).not.toThrow();
});

test('a word matches itself when its special characters are escaped, and only itself', () => {
  const escape = (text: string): string => text.replaceAll(/[\\*?$]/g, '\\$&');
  const text = fc.string({ unit: 'binary', maxLength: 12 });
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(matches(['p', escape(one)], ['p', one])).toBe(true);
      expect(matches(['p', escape(one)], ['p', other])).toBe(one === other);
    }),
    { numRuns: runs(2000) },
  );
});

test('globs agree with the regular expression they stand for', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(glob, letters, (pattern, text) => {
      fc.pre(pattern !== '**');
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(text);
      expect(matches(['p', pattern, '$'], ['p', text])).toBe(expected);
    }),
    { numRuns: runs(5000) },
  );
});

test('words agree with the regular expression they stand for', () => {
  const argument = fc.constantFrom('a', 'b');
  const patternWord = fc.constantFrom('a', 'b', '**', '?');
  fc.assert(
    fc.property(
      fc.array(patternWord, { maxLength: 6 }),
      fc.array(argument, { maxLength: 6 }),
      fc.boolean(),
      (pattern, args, closed) => {
        const source = pattern.map((word) => (word === '**' ? '.*' : word === '?' ? '.' : word)).join('');
        const expected = new RegExp(`^${source}${closed ? '$' : ''}`).test(args.join(''));
        expect(matches(['p', ...pattern, ...(closed ? ['$'] : [])], ['p', ...args])).toBe(expected);
      },
    ),
    { numRuns: runs(5000) },
  );
});
