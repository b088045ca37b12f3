// What the words of a call of `string` come to.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withWholePaths } from '../../../../src/cli/string/agent-here.js';
import { joinShellWords, joinWords } from '../../../../src/cli/string/quote-words.js';
import { readRequest } from '../../../../src/cli/string/request.js';
import { readInvocation } from '../../../../src/cli/string/usage.js';
import { splitWords } from '../../../../src/string/arguments.js';
import { runs } from '../../../helpers/runs.js';

describe('words put together again', () => {
  test('one word is sent as it was written, of several each that needs it is quoted', () => {
    expect(joinWords(['/open  "my file" '])).toBe('/open  "my file" ');
    expect(joinWords(['/open', './my file.md'])).toBe("/open './my file.md'");
    expect(joinWords(['/act.add', "it's", '', 'plain'])).toBe(`/act.add 'it'"'"'s' '' plain`);
    expect(joinWords(['/set', '{v}', '=', 'x'])).toBe('/set {v} = x');
    expect(joinShellWords(['echo', '$HOME', '*'])).toBe("echo '$HOME' '*'");
  });

  test('whoever splits the text gets the same words', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', "'", '"', '$', ' ', '\t', '{', '}', '\\', '*', '-', '=', 'é'),
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const text = joinWords(['/act.x', ...words]);
        expect(splitWords(text).map((each) => each.text)).toEqual(['/act.x', ...words]);
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('requests', () => {
  test.each([
    [['/info'], { kind: 'run', topic: 'main', cmd: '/info' }],
    [['/open', 'a b'], { kind: 'run', topic: 'main', cmd: "/open 'a b'" }],
    [['notes', '/info'], { kind: 'run', topic: 'notes', cmd: '/info' }],
    [['notes', 'plain text'], { kind: 'run', topic: 'notes', cmd: 'plain text' }],
    [['notes'], { kind: 'prompt', topic: 'notes' }],
    [['bash:dev'], { kind: 'prompt', topic: 'bash:dev' }],
    [['bash:dev', 'ls -la | wc'], { kind: 'run', topic: 'bash:dev', cmd: 'ls -la | wc' }],
    [['bash:dev', 'cat', '-'], { kind: 'run', topic: 'bash:dev', cmd: 'cat -' }],
    [['bash:dev', '//send', 'a b'], { kind: 'run', topic: 'bash:dev', cmd: "//send 'a b'" }],
    [['bash:dev', '-'], { kind: 'run-input', topic: 'bash:dev', cmd: undefined }],
    [['notes', '-'], { kind: 'run-input', topic: 'notes', cmd: undefined }],
    [['-'], { kind: 'run-input', topic: 'main', cmd: undefined }],
    [['notes', '/write', 'a.md', '-'], { kind: 'run-input', topic: 'notes', cmd: '/write a.md' }],
    [['notes', '/write a.md', '-'], { kind: 'run-input', topic: 'notes', cmd: '/write a.md' }],
    [
      ['notes', '/write', 'a b.md', 'two  words', 'x'],
      { kind: 'run', topic: 'notes', cmd: "/write 'a b.md'\ntwo  words x" },
    ],
    [['/append', '--force', 'a.md', '"x"'], { kind: 'run', topic: 'main', cmd: '/append --force a.md\n"x"' }],
    [
      ['/replace', "it's.md", '--all', 'a\n---\nb'],
      { kind: 'run', topic: 'main', cmd: `/replace 'it'"'"'s.md' --all\na\n---\nb` },
    ],
    [['/replace', 'a.md:L3', ''], { kind: 'run', topic: 'main', cmd: '/replace a.md:L3\n' }],
    [['/edit', 'a b.md'], { kind: 'run', topic: 'main', cmd: "/edit 'a b.md'" }],
    [['/search', 'two words', '--files'], { kind: 'run', topic: 'main', cmd: '/search two words --files' }],
    [['/set', '{v} = "a b"'], { kind: 'run', topic: 'main', cmd: '/set {v} = "a b"' }],
    [['/exec', 'echo $HOME | wc'], { kind: 'run', topic: 'main', cmd: '/exec echo $HOME | wc' }],
    [['/exec', 'echo', '$HOME'], { kind: 'run', topic: 'main', cmd: "/exec echo '$HOME'" }],
    [['/exec', 'cat', '-'], { kind: 'run', topic: 'main', cmd: '/exec cat -' }],
    [['event'], { kind: 'run', topic: 'event', cmd: '/open' }],
    [['event', 'ack', 'evt_1'], { kind: 'run', topic: 'event', cmd: '/ack evt_1' }],
    [['event', 'ack evt_1'], { kind: 'run', topic: 'event', cmd: '/ack evt_1' }],
    [['event', '/ack', 'evt_1'], { kind: 'run', topic: 'event', cmd: '/ack evt_1' }],
    [['agent', '--help'], { kind: 'hub-help', hub: 'agent' }],
    [['agent', 'help'], { kind: 'hub-help', hub: 'agent' }],
    [['file:daemon', '/info'], { kind: 'run', topic: 'file:daemon', cmd: '/info' }],
  ])('%j', (words, request) => {
    expect(readRequest(words)).toEqual(request);
  });

  test.each([
    [['bad!name', '/info']],
    [['intro.md']],
    [['ftp:x', '/info']],
    [['', '/info']],
    [['webhook', 'show']],
  ])('%j is refused', (words) => {
    expect(() => readRequest(words)).toThrow(/invalid topic|string event webhook show/);
  });
});

describe('flags', () => {
  test('stand before the topic; what follows is the command’s', () => {
    const { flags, words } = readInvocation(['--json', '--agent', 'a', 'notes', '--json', '-x']);
    expect([flags.has('json'), flags.value('agent'), words]).toEqual([true, 'a', ['notes', '--json', '-x']]);
    expect(readInvocation(['--agent=b', '/info']).flags.value('agent')).toBe('b');
    expect(readInvocation(['--raw', '--', '--odd']).words).toEqual(['--odd']);
    expect(readInvocation(['--json', '-']).words).toEqual(['-']);
  });

  test('after --daemon all words are about the daemon', () => {
    const { flags, words } = readInvocation(['--port', '4000', '--daemon', 'foreground', '4001', '--log']);
    expect([flags.has('daemon'), words]).toEqual([true, ['foreground', '4001', '--log']]);
  });

  test('an unknown one is refused with the likely one', () => {
    expect(() => readInvocation(['--jsno', 'x'])).toThrow('did you mean --json?');
    expect(() => readInvocation(['--agent'])).toThrow('--agent needs a value');
  });
});

test('paths of an agent are relative to where the user is', () => {
  const here = (path: string): string => `${process.cwd()}/${path}`;
  expect(withWholePaths("/add me --home './my home' --allow a,/b,~/c")).toBe(
    `/add me --home '${here('my home')}' --allow ${here('a')},/b,~/c`,
  );
  expect(withWholePaths('/set-home me ../x')).toBe(`/set-home me ${here('x').replace(/[^/]+\/x$/u, 'x')}`);
  for (const cmd of ['/add me', '/add', '/set-home me', '/use me', '/add me --help --home x'])
    expect(withWholePaths(cmd)).toBe(cmd);
});
