// Commands of which a policy cannot see what they run.

import { describe, expect, test } from 'vitest';
import { CommandPolicy, type CommandRules } from '../../../src/guard/command-policy.js';

const words = (line: string): string[] => line.split(' ');
const decide = (rules: CommandRules, line: string | string[]) =>
  new CommandPolicy(rules).decide({ argv: typeof line === 'string' ? words(line) : line });
const allows = (rules: CommandRules, line: string | string[]): boolean => decide(rules, line).allowed;

describe('what cannot be seen', () => {
  test('an option that is not known hides the command, so a policy with any rule refuses', () => {
    for (const line of ['env --what rm x', 'timeout -Z 5 rm x', 'env -S rm', 'nsenter -t 1 rm']) {
      expect(allows({}, line)).toBe(true);
      expect(decide({ deny: ['git'] }, line)).toMatchObject({ allowed: false, rule: 'wrapper' });
      expect(allows({ allowShell: false }, line)).toBe(false);
    }
  });

  test('a command wrapped more often than anybody would is refused', () => {
    const argv = [...Array.from({ length: 40 }, () => 'nice'), 'rm', 'x'];
    expect(decide({ deny: ['git'] }, argv)).toMatchObject({ allowed: false, rule: 'wrapper' });
  });

  test.each([
    'xargs env',
    'xargs env A=1',
    'xargs env -u',
    'xargs nice -n 5',
    'xargs timeout 5',
    'xargs flock lock',
    'xargs xargs',
    'nice xargs -n 1 env',
    'xargs -I {} {} x',
    'xargs -I% % x',
    'xargs -i {}',
    'xargs --replace=% env A=1 %',
    'xargs find .', // what comes may be -exec
    'xargs find . -name x',
    'find rm -exec {} x ;',
    'find . -exec env {} ;',
  ])('%s runs whatever comes later, which no rule covers', (line) => {
    const allow = ['env', 'nice', 'timeout', 'flock', 'xargs', 'find', 'rm'];
    expect(decide({ allow }, line)).toMatchObject({ allowed: false, rule: 'wrapper' });
    expect(allows({ allow, deny: ['rm'] }, line)).toBe(false);
    expect(allows({ deny: ['rm'] }, line)).toBe(false);
    expect(decide({}, line)).toEqual({ allowed: true, class: 'write' });
  });

  test('what xargs adds later counts against a rule about arguments', () => {
    expect(allows({ deny: ['git push'] }, 'xargs git')).toBe(false);
    expect(allows({ deny: ['git push'] }, 'xargs nice git')).toBe(false);
    expect(allows({ deny: ['git ** --force'] }, 'xargs git log')).toBe(false);
    expect(allows({ deny: ['git push'] }, 'xargs git log')).toBe(true);
    expect(allows({ deny: ['git push'] }, 'xargs -I {} git {} x')).toBe(false);
    expect(allows({ deny: ['rm'] }, ['xargs', '-I', '{}', 'sh', '-c', 'rm {}'])).toBe(false);
    expect(allows({ allow: ['npm test $'] }, 'xargs npm test')).toBe(false);
    expect(allows({ allow: ['npm test'] }, 'xargs npm test')).toBe(true);
    expect(allows({ allow: ['npm test'] }, 'xargs -I {} npm {} x')).toBe(false);
    expect(allows({ allow: ['npm test'] }, 'xargs -I {} npm test {}')).toBe(true);
  });

  test('an allow rule that names the odd wrapper accepts it', () => {
    expect(allows({ allow: ['nsenter -t 1'] }, 'nsenter -t 1 ls')).toBe(true);
    expect(allows({ allow: ['nsenter -t 1'], deny: ['rm'] }, 'nsenter -t 1 ls')).toBe(false); // it may hide rm
    expect(allows({ allow: ['nsenter -t 1'], allowShell: false }, 'nsenter -t 1 ls')).toBe(false);
  });
});
