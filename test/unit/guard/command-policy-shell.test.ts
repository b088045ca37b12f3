import { describe, expect, test } from 'vitest';
import { CommandPolicy, type CommandRules } from '../../../src/guard/command-policy.js';

const words = (line: string): string[] => line.split(' ');
const decide = (rules: CommandRules, argv: string[]) => new CommandPolicy(rules).decide({ argv });

describe('shells', () => {
  test.each([
    ['sh', '-c', 'ls'],
    ['/bin/sh', '-c', 'ls'],
    ['bash', '-lc', 'ls'],
    ['bash'],
    ['dash', 'script.sh'],
    ['busybox', 'sh', '-c', 'ls'],
    ['/bin/busybox', 'ash'],
    ['env', '-i', 'sh', '-c', 'ls'],
    ['nohup', 'zsh', '-c', 'ls'],
    ['xargs', 'sh', '-c', 'ls'],
    ['/lib64/ld-linux-x86-64.so.2', '/bin/sh', '-c', 'ls'],
    ['watch', 'ls'],
    ['flock', '/tmp/l', '-c', 'ls'],
    ['script', '-c', 'ls', '/dev/null'],
    ['find', '.', '-exec', 'sh', '-c', 'ls', ';'],
    ['command', 'sh'],
  ])('%s %s %s is of the class shell, and does not run where shells do not', (...argv) => {
    expect(decide({}, argv).class).toBe('shell');
    expect(decide({ allowShell: false }, argv)).toMatchObject({ allowed: false, rule: 'allow_shell' });
  });

  test('without a shell the explicit request is refused too, and ordinary programs run', () => {
    const policy = new CommandPolicy({ allowShell: false });
    expect(policy.decide({ shell: true, command: 'ls' })).toMatchObject({
      allowed: false,
      rule: 'allow_shell',
      class: 'shell',
    });
    for (const line of ['ls', 'git sh', 'watch -x ls', 'echo sh -c'])
      expect(policy.decide({ argv: words(line) }).allowed).toBe(true);
  });

  const policy = new CommandPolicy({ deny: ['rm', 'git push'] });

  test.each([
    'rm x',
    'cd /x && rm x',
    'ls | xargs rm',
    'true; \\rm x',
    '"r"m x',
    'A=1 rm x',
    'echo $(rm x)',
    'echo "`rm x`"',
    'if true; then rm x; fi',
    'for f in *; do rm "$f"; done',
    'f() { rm x; }; f',
    '(rm x)',
    'eval "rm x"',
    'sh -c "rm x"',
    'sudo env A=1 /bin/rm x',
    'exec -a ls rm x',
    'command rm x',
    'true >&-&&rm x',
    '2>/dev/null rm x',
    'cat <<E\ntext\nE\nrm x',
    'git push',
    'diff <(rm x) y',
    'time -p rm x',
    'case x in x) rm x;; esac',
    '! rm x',
  ])('what is denied is found in the text %j', (command) => {
    expect(policy.decide({ shell: true, command }).allowed).toBe(false);
  });

  test.each([
    'echo rm x',
    "echo 'rm x; rm y'",
    'echo "rm; rm"',
    '# rm x',
    'echo a # ; rm x',
    'cat <<E\nrm x\nE',
    'cat <<-"E"\n\trm x\n\tE\necho done',
    'git commit -m "git push; rm"',
    'echo > rm',
    'echo rm\\; rm',
  ])('what is only spoken of in the text %j is no command', (command) => {
    expect(policy.decide({ shell: true, command }).allowed).toBe(true);
  });
});
