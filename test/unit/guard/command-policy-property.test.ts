import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COMMAND_CLASSES } from '../../../src/guard/command-classes.js';
import { CommandPolicy, type CommandRules } from '../../../src/guard/command-policy.js';
import { runs } from '../../helpers/runs.js';
import { growthOf, isInStep } from './cost-growth.js';

const decide = (rules: CommandRules, argv: string[]) => new CommandPolicy(rules).decide({ argv });
const allows = (rules: CommandRules, argv: string[]): boolean => decide(rules, argv).allowed;

const program = fc.constantFrom(
  'rm',
  'git',
  'ls',
  'sh',
  'sudo',
  'env',
  'timeout',
  '/bin/rm',
  './ls',
  'find',
  'xargs',
  'su',
  '',
);
const word = fc.oneof(
  fc.constantFrom('-c', '-u', '--', '-exec', ';', 'A=1', '5', 'push', '-n', '--user=x', '*', '$', '**'),
  program,
  fc.string({ unit: 'binary' }),
);
const argvs = fc.array(word, { maxLength: 8 });
const pattern = fc.oneof(
  fc.constantFrom(
    'rm',
    'git push',
    'ls',
    '*',
    'sudo',
    '/bin/*',
    'sh -c',
    'env **',
    'git ** push $',
    'timeout ? rm',
  ),
  fc.tuple(fc.constantFrom('rm', 'git', '*s'), fc.constantFrom('x', '*', '**', '-?')),
);
const lists = fc.array(pattern, { maxLength: 5 });
const rulesets = fc.record(
  {
    allow: lists,
    deny: lists,
    sudo: lists,
    allowShell: fc.boolean(),
    classes: fc.subarray([...COMMAND_CLASSES]),
  },
  { requiredKeys: [] },
);

test('whatever the words, deciding neither throws nor lets a denied program through', () => {
  fc.assert(
    fc.property(argvs, rulesets, (argv, rules) => {
      const decision = decide(rules, argv);
      expect(COMMAND_CLASSES).toContain(decision.class);
      const bare = { deny: rules.deny ?? [] };
      expect(decision.allowed && !allows(bare, argv)).toBe(false);
    }),
    { numRuns: runs(3000) },
  );
});

test('deny always wins: adding a rule to it never allows more, and denying everything leaves nothing', () => {
  fc.assert(
    fc.property(argvs, rulesets, pattern, (argv, rules, more) => {
      const wider = { ...rules, deny: [...(rules.deny ?? []), more] };
      expect(allows(wider, argv) && !allows(rules, argv)).toBe(false);
      expect(allows({ ...rules, deny: ['*'] }, argv)).toBe(false);
    }),
    { numRuns: runs(3000) },
  );
});

test('the order of rules within a list changes nothing in the decision', () => {
  fc.assert(
    fc.property(argvs, rulesets, fc.infiniteStream(fc.nat()), (argv, rules, order) => {
      const shuffle = <T>(list: readonly T[] | undefined): T[] =>
        (list ?? [])
          .map((item) => [order.next().value, item] as const)
          .sort(([a], [b]) => a - b)
          .map(([, item]) => item);
      const shuffled: CommandRules = {
        ...rules,
        ...(rules.allow !== undefined && { allow: shuffle(rules.allow) }),
        ...(rules.deny !== undefined && { deny: shuffle(rules.deny) }),
        ...(rules.sudo !== undefined && { sudo: shuffle(rules.sudo) }),
      };
      expect(decide(shuffled, argv)).toEqual(decide(rules, argv));
    }),
    { numRuns: runs(2000) },
  );
});

test('a wrapper in front never gets a denied command through', () => {
  const wrappers = fc.array(
    fc.constantFrom(
      ['env', 'A=1'],
      ['env', '-i', '-u', 'X', '--'],
      ['nice', '-n', '5'],
      ['nice', '-5'],
      ['nohup'],
      ['timeout', '-s', 'KILL', '5'],
      ['setsid', '-w'],
      ['stdbuf', '-oL'],
      ['sudo', '-nu', 'root'],
      ['xargs', '-n', '1'],
      ['busybox'],
      ['/usr/bin/env'],
      ['./env'],
      ['command'],
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(wrappers, argvs, (prefix, rest) => {
      expect(
        allows({ deny: ['rm'] }, [...prefix.flat(), 'rm', ...rest.map((each) => each.replaceAll('\0', ''))]),
      ).toBe(false);
    }),
    { numRuns: runs(1000) },
  );
});

test('any text for a shell gets an answer', () => {
  const piece = fc.constantFrom(
    '$(',
    ')',
    '`',
    '"',
    "'",
    '\\',
    '<<E',
    '\n',
    'E',
    ';',
    '&',
    '|',
    '>',
    '<',
    '(',
    '{',
    '}',
    'rm',
    ' ',
    '#',
    'eval',
    '$',
    '&&',
    '>&-',
    '\r',
    '\t',
    'case',
    '2',
  );
  const policy = new CommandPolicy({ deny: ['git'], sudo: [] });
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      expect(policy.decide({ shell: true, command: pieces.join('') }).class).toMatch(
        /shell|privileged|write/,
      );
    }),
    { numRuns: runs(3000) },
  );
});

describe('a hostile command costs in step with its length', () => {
  const policy = new CommandPolicy({
    deny: ['*a*a*a*a*a*a*b ** ** *c*c*c*d', ['rm', '**', '*x*x*x*y', '**', 'z']],
  });
  const repeat = (times: number, ...words: string[]): string[] =>
    Array.from({ length: times }, () => words).flat();

  test.each<[string, (length: number) => string[]]>([
    ['a long name', (length) => ['a'.repeat(25 * length)]],
    ['long words', (length) => ['aab', ...repeat(length / 20, 'c'.repeat(1000))]],
    ['many words', (length) => ['rm', ...repeat(length, 'x'.repeat(100))]],
    ['many wrappers', (length) => repeat(4 * length, 'nice')],
    ['many finds', (length) => repeat(length, 'find', '-exec')],
    ['many commands of find', (length) => ['find', ...repeat(length, '-exec', 'ls', '{}', ';')]],
    ['many places', (length) => ['xargs', '-I{}', ...repeat(length, 'xargs', '-I{}', '{}')]],
  ])('%s', (_, argvOf) => {
    expect(growthOf((length) => policy.decide({ argv: argvOf(length) }), 1000)).toSatisfy(isInStep);
  });

  test.each([
    '$(',
    '"$(',
    '`',
    'eval "',
    "sh -c '",
    '(',
    'sudo ',
    'nice ',
    '<(',
    '\\',
    '<<E\n',
    'xargs -I{} ',
  ])('a text of nothing but %j', (nested) => {
    const decide = (times: number) => policy.decide({ shell: true, command: nested.repeat(times) });
    expect(growthOf(decide, 1000)).toSatisfy(isInStep);
  });
});
