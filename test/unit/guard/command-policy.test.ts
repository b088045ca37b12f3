import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommandClass } from '../../../src/guard/command-classes.js';
import { CommandPolicy, type CommandRules } from '../../../src/guard/command-policy.js';
import { runs } from '../../helpers/runs.js';

const words = (line: string): string[] => line.split(' ');
const decide = (rules: CommandRules, line: string | string[]) =>
  new CommandPolicy(rules).decide({ argv: typeof line === 'string' ? words(line) : line });
const allows = (rules: CommandRules, line: string | string[]): boolean => decide(rules, line).allowed;
const classOf = (line: string | string[]): CommandClass => decide({}, line).class;

describe('without rules', () => {
  test.each(['rm -rf /', 'sudo rm x', 'sh -c x', 'env --what ls', './anything'])('%s runs', (line) => {
    expect(allows({}, line)).toBe(true);
  });

  test('shell text runs, as its own class', () => {
    expect(new CommandPolicy().decide({ shell: true, command: 'ls' })).toEqual({
      allowed: true,
      class: 'shell',
    });
  });
});

describe('deny', () => {
  const rules = { deny: ['rm', 'git push', '/usr/bin/docker', 'curl ** --upload-file'] };

  test.each([
    'rm x',
    '/bin/rm x',
    '/bin/../bin/rm x',
    '//bin//./rm x',
    './rm x',
    'git push',
    'git push origin main',
    '/usr/local/bin/git push',
    '/usr/bin/docker ps',
    '/usr/bin/../bin/docker ps',
    'docker ps', // by name it may well be that one
    'bin/docker ps',
    'curl https://x --upload-file f',
    'curl --upload-file f',
  ])('%s is refused', (line) => {
    expect(decide(rules, line)).toMatchObject({ allowed: false });
  });

  test.each([
    'git status',
    'git pull',
    'rmdir x',
    '/opt/docker ps',
    'curl https://x',
    'echo rm',
    'grep push git',
  ])('%s runs', (line) => {
    expect(allows(rules, line)).toBe(true);
  });

  test('the decision names the rule and the program, and no argument of it', () => {
    expect(decide(rules, 'git push secret-remote')).toEqual({
      allowed: false,
      class: 'write',
      rule: 'deny "git push"',
      reason: 'git is denied',
    });
  });

  test('wins over allow, whatever is said first', () => {
    expect(allows({ allow: ['git'], deny: ['git push'] }, 'git push')).toBe(false);
    expect(allows({ deny: ['git push'], allow: ['git push', '*'] }, 'git push')).toBe(false);
    expect(allows({ allow: ['git'], deny: ['git push'] }, 'git status')).toBe(true);
  });
});

describe('allow', () => {
  const rules = { allow: ['git', '/srv/app/bin/*', 'npm test $', 'ls -l'] };

  test.each([
    'git status',
    '/usr/bin/git log',
    '/srv/app/bin/deploy now',
    '/srv/app/x/../bin/deploy',
    'npm test',
    'ls -l /x',
  ])('%s runs', (line) => {
    expect(allows(rules, line)).toBe(true);
  });

  test.each([
    'rm x',
    'npm test --watch',
    'npm',
    'ls',
    'ls -a',
    '/srv/app/bin/../../evil',
    '/srv/app/bing/x',
    'deploy now',
  ])('%s is refused', (line) => {
    expect(decide(rules, line)).toMatchObject({ allowed: false, rule: 'allow' });
  });

  test('an empty list allows everything that is not denied', () => {
    expect(allows({ allow: [], deny: ['rm'] }, 'ls')).toBe(true);
    expect(allows({ allow: [], deny: ['rm'] }, 'rm x')).toBe(false);
  });

  test.each(['./git status', '/tmp/git status', '/usr/bin/../../tmp/git x', 'sub/git x'])(
    'a name stands for the program of the system, not for any file so called: %s',
    (line) => {
      expect(allows({ allow: ['git'] }, line)).toBe(false);
    },
  );

  test('a relative program is looked for from the working folder', () => {
    const policy = new CommandPolicy({ allow: ['/srv/app/bin/*'] });
    expect(policy.decide({ argv: ['./bin/run'], cwd: '/srv/app' }).allowed).toBe(true);
    expect(policy.decide({ argv: ['../bin/run'], cwd: '/srv/app' }).allowed).toBe(false);
    expect(policy.decide({ argv: ['bin/run'] }).allowed).toBe(false);
  });

  test.each([
    'PATH',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'BASH_ENV',
    'NODE_OPTIONS',
    'PYTHONPATH',
    'GIT_CONFIG_COUNT',
    'GIT_SSH_COMMAND',
    'PAGER',
    'HOME',
    'XDG_CONFIG_HOME',
    'LANGUAGE',
    'LC_',
    'lang',
    'X_TERM',
    'TERMINFO',
    'anything',
    '',
  ])('with %s set for it a rule no longer says what runs', (name) => {
    for (const [allow, argv] of [
      ['git', ['git', 'status']],
      ['node build.js $', ['node', 'build.js']],
      ['/srv/bin/run', ['/srv/bin/run']],
    ] as const) {
      const policy = new CommandPolicy({ allow: [allow] });
      expect(policy.decide({ argv }).allowed).toBe(true);
      expect(policy.decide({ argv, env: { [name]: 'x', LANG: 'C' } }).allowed).toBe(false);
      expect(policy.decide({ argv: ['env', 'LANG=C', `${name}=x`, ...argv] }).allowed).toBe(false);
      expect(policy.decide({ argv: ['env', `${name}=x`, 'nice', ...argv] }).allowed).toBe(false);
    }
  });

  test.each(['LANG', 'LC_ALL', 'LC_TIME', 'TERM', 'COLORTERM', 'TZ', 'NO_COLOR', 'COLUMNS', 'LINES', 'CI'])(
    '%s changes only how things look',
    (name) => {
      const policy = new CommandPolicy({ allow: ['git', '/srv/bin/run'] });
      expect(policy.decide({ argv: ['git'], env: { [name]: 'x' } }).allowed).toBe(true);
      expect(policy.decide({ argv: ['env', `${name}=x`, '/srv/bin/run'] }).allowed).toBe(true);
    },
  );

  test('no variable outside the short list goes with an allowed command', () => {
    const safe = /^(LANG|LC_[A-Z]+|TERM|COLORTERM|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|CI)$/;
    const policy = new CommandPolicy({ allow: ['*', '/*'] });
    fc.assert(
      fc.property(
        fc.string().filter((name) => !safe.test(name)),
        fc.constantFrom('git', '/x'),
        (name, program) => {
          expect(policy.decide({ argv: [program], env: { [name]: 'x' } }).allowed).toBe(false);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test.each([
    'ld.so --preload /tmp/x.so /bin/ls',
    'ld.so --library-path /tmp /bin/ls',
    'xargs --process-slot-var=PATH ls',
    'env -a rm ls',
    'env --argv0=rm ls',
  ])('nor do the options of a wrapper that load other code: %s', (line) => {
    expect(allows({ allow: ['ls'] }, line)).toBe(false);
    expect(allows({ allow: ['/bin/ls'] }, line)).toBe(false);
  });

  test('a wrapper that goes elsewhere looks for a relative program there', () => {
    const policy = new CommandPolicy({ allow: ['/srv/app/bin/*', 'find'], sudo: ['/srv/app/bin/*'] });
    const may = (line: string): boolean => policy.decide({ argv: words(line), cwd: '/srv/app' }).allowed;
    for (const line of [
      'env bin/run',
      'env -C /srv app/bin/run',
      'env --chdir=bin ./run',
      'sudo -D bin ./run',
    ])
      expect(may(line)).toBe(true);
    for (const line of [
      'env -C /tmp bin/run',
      'env --chdir /tmp nice bin/run',
      'sudo -D /tmp bin/run',
      'sudo -R /tmp /srv/app/bin/run',
      'chroot /tmp /srv/app/bin/run',
      'find /tmp -execdir bin/run ;',
    ])
      expect(may(line)).toBe(false);
    const inShell = new CommandPolicy({ sudo: ['/srv/app/bin/*'] });
    const text = 'cd /tmp && sudo bin/run';
    expect(inShell.decide({ shell: true, command: text, cwd: '/srv/app' }).allowed).toBe(false);
  });

  test('a wrapper is as allowed as what it wraps', () => {
    const git = { allow: ['git', 'env $'] };
    for (const line of ['env TZ=UTC git status', 'nice -n 5 nohup timeout 5 git log', 'env'])
      expect(allows(git, line)).toBe(true);
    for (const line of ['env A=1 rm x', 'timeout 5 rm x', 'nice', '/tmp/env git status'])
      expect(allows(git, line)).toBe(false);
    expect(allows({ allow: ['timeout'] }, 'timeout 5 rm x')).toBe(false);
  });

  test('find is not allowed to run what is not', () => {
    expect(allows({ allow: ['find', 'ls'] }, 'find . -exec ls {} ;')).toBe(true);
    expect(allows({ allow: ['find', 'ls'] }, 'find . -exec ls {} ; -exec rm {} +')).toBe(false);
  });

  test('a shell must be named itself where its text is more than the list can see into', () => {
    const text = { shell: true, command: 'git status $x' } as const;
    expect(new CommandPolicy({ allow: ['git'] }).decide(text)).toMatchObject({
      allowed: false,
      rule: 'allow',
    });
    expect(new CommandPolicy({ allow: ['git', 'sh'] }).decide(text).allowed).toBe(true);
    expect(new CommandPolicy({ allow: ['sh'] }).decide({ shell: true, command: 'make' }).allowed).toBe(true);
    expect(allows({ allow: ['git'] }, ['bash', '-c', 'git status'])).toBe(false);
  });
});

describe('other rights', () => {
  test.each([
    'sudo ls',
    'sudo -u www -- ls',
    'doas ls',
    'su',
    'su - root -c ls',
    'pkexec ls',
    'chroot / ls',
    'nsenter -t 1 ls',
  ])('%s is of the class privileged', (line) => {
    expect(classOf(line)).toBe('privileged');
  });

  const rules = { sudo: ['systemctl restart nginx $', 'apt-get update'] };

  test.each([
    'sudo systemctl restart nginx',
    'sudo -n -u root systemctl restart nginx',
    'sudo --user=root LC_ALL=C systemctl restart nginx',
    'sudo apt-get update -q',
    'doas apt-get update',
    'sudo nice apt-get update',
    'systemctl restart sshd', // the list speaks of sudo only
  ])('%s runs where that is on the list', (line) => {
    expect(allows(rules, line)).toBe(true);
  });

  test.each([
    'sudo systemctl restart sshd',
    'sudo systemctl restart nginx sshd',
    'sudo rm x',
    'sudo',
    'sudo -l',
    'sudo -s',
    'sudo -i apt-get update',
    'sudo ./apt-get update',
    'sudo PATH=/tmp apt-get update',
    'sudo APT_CONFIG=/tmp/x apt-get update',
    '/tmp/sudo apt-get update',
    'su -c ls',
    'sudoedit /etc/passwd',
    'sudo -e /etc/passwd',
    'env sudo rm x',
    'sudo sudo rm x',
  ])('%s is refused', (line) => {
    expect(allows(rules, line)).toBe(false);
  });

  test('an empty list is none at all, and the text of a shell is no way round it', () => {
    expect(decide({ sudo: [] }, 'sudo ls')).toMatchObject({ allowed: false, rule: 'sudo' });
    expect(decide({ sudo: [] }, ['sh', '-c', 'true; sudo ls'])).toMatchObject({
      allowed: false,
      rule: 'sudo',
    });
  });

  test('with a list of allowed commands, sudo needs a rule of its own', () => {
    expect(allows({ allow: ['ls'] }, 'sudo ls')).toBe(false);
    expect(allows({ allow: ['sudo ls'] }, 'sudo ls')).toBe(true);
    expect(allows({ allow: ['sudo ls'] }, 'sudo rm')).toBe(false);
    expect(allows({ allow: ['git'], sudo: ['ls'] }, 'sudo ls')).toBe(true);
  });
});

describe('classes', () => {
  test.each([
    'ls -la',
    'cat x',
    'grep -r x .',
    '/bin/cat x',
    'nice cat x',
    'env TZ=UTC timeout 5 wc x',
    'env',
    'time -p cat x',
  ])('%s only reads', (line) => {
    expect(classOf(line)).toBe('read-only');
  });

  test.each([
    'rm x',
    'unknown-program',
    './cat x',
    '/tmp/ls',
    'env PATH=/tmp ls',
    'env GCONV_PATH=/tmp ls',
    'sort -o x y',
    'find . -delete',
    'env -S ls',
    '/tmp/env ls',
    'time -o x ls',
    'time -ox ls',
    'time --output=x cat y',
    'time --out x cat y',
    'flock new-file cat y',
    'nohup cat y', // into nohup.out, on a terminal
    'xargs cat',
    'xargs env',
    'xargs nice -n 5',
  ])('%s counts as writing', (line) => {
    expect(classOf(line)).toBe('write');
  });

  test('only commands of the classes given run', () => {
    const rules: CommandRules = { classes: ['read-only'] };
    expect(allows(rules, 'cat x')).toBe(true);
    for (const line of ['rm x', 'sh -c ls', 'sudo cat x']) {
      expect(decide(rules, line)).toMatchObject({ allowed: false, rule: 'classes' });
    }
    expect(allows({ classes: [] }, 'true')).toBe(false);
  });
});

test('a command that is none is refused', () => {
  for (const argv of [[], [''], ['ls', 'a\0b']])
    expect(decide({}, argv)).toMatchObject({ allowed: false, rule: 'argv' });
  expect(new CommandPolicy().decide({ shell: true, command: 'a\0' })).toMatchObject({
    allowed: false,
    rule: 'argv',
  });
});
