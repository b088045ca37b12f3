import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globPaths } from '../../../../src/host/files/glob.js';
import { parsePattern } from '../../../../src/host/files/ignore-pattern.js';
import { IgnoreRules, MAX_IGNORE_RULES, MAX_RULE_BYTES } from '../../../../src/host/files/ignore-rules.js';
import { MAX_IGNORE_BYTES } from '../../../../src/host/files/ignore-scope.js';
import { listDirectory } from '../../../../src/host/files/list.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { MAX_IGNORE_STEPS } from '../../../../src/host/files/tree-walk.js';
import { makeSandbox, run, type Sandbox } from './sandbox.js';

const FILES = ['a', 'b', 'ab', 'a.c', 'b.c', 'a b', 'a ', '#a', '!a', 'a*b', '[a]', 'a?', '\\a', '.a'].concat(
  ['\u00E9', 'A', '-', 'd/a', 'd/b', 'd/a.c', 'd/e/a', 'd/e/b', 'd/e/a.c', 'd/e/f/a', 'd/e/f/b.c', 'd/a b/a'],
  ['d/.a/a', 'ad/a', 'ad/e/a', 'e/a', 'e/d/a', 'e/d/b', 'e/e/e/a', 'a.d/a', 'a.d/b.c', '*/a', '**/a', ']/a'],
);

const PIECES = ['a', 'b', 'd', 'e', 'f', '.c', '*', '**', '?', '/', '/', '/**/', '**/', '/**'].concat([
  '[a-e]',
  '[!a]',
  '\\',
  '!',
  '[[:alpha:]]',
  '[',
  ']',
  '-',
  ' ',
  '#',
  '.',
  '\u00E9',
]);

function plant(box: Sandbox): void {
  for (const file of FILES) box.file(file);
  execFileSync('git', ['init', '-q'], { cwd: box.root, env: quietGit(box) });
}

function quietGit(box: Sandbox): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: box.base,
    XDG_CONFIG_HOME: box.base,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
}

/** What git would add, without the rules themselves. */
function asGitSees(box: Sandbox): string[] {
  const output = execFileSync('git', ['ls-files', '--others', '--exclude-standard', '-z'], {
    cwd: box.root,
    env: quietGit(box),
  });
  return tidy(output.toString().split('\0'));
}

async function asWeSee(box: Sandbox, from = ''): Promise<string[]> {
  const { entries } = await listDirectory(box.set, box.at(from), { recursive: true, gitignore: true });
  const files = entries
    .filter(({ type }) => type !== 'dir')
    .map(({ path }) => path.slice(box.root.length + 1));
  const { matches } = await globPaths(box.set, box.at(from), '**', {
    dot: true,
    onlyFiles: true,
    gitignore: true,
  });
  expect(tidy(matches.map((path) => path.slice(box.root.length + 1)))).toEqual(tidy(files));
  return tidy(files);
}

function tidy(paths: readonly string[]): string[] {
  return paths.filter((path) => path !== '' && !path.endsWith('.gitignore')).sort();
}

function writeRules(box: Sandbox, rules: Readonly<Record<string, string>>): void {
  for (const folder of ['', 'd', 'd/e', 'e']) rmSync(box.at(folder, '.gitignore'), { force: true });
  for (const [folder, text] of Object.entries(rules)) {
    mkdirSync(dirname(box.at(folder, '.gitignore')), { recursive: true });
    writeFileSync(box.at(folder, '.gitignore'), text);
  }
}

describe('rules of .gitignore', () => {
  test.each([
    ['a name anywhere', 'a\n'],
    ['a name at the top only', '/a\n'],
    ['a path', 'd/a\n'],
    ['a path with a leading slash', '/d/e\n'],
    ['directories only', 'e/\n'],
    ['endings', '*.c\n'],
    ['negation, which a directory left out does not hear', '*\n!a\n!d/\n!d/a.c\n'],
    ['stars that do not cross a slash', 'd/*\n!d/e\n'],
    ['** at the front', '**/e/a\n'],
    ['** at the end', 'd/**\n!d/e/\n!d/e/a\n'],
    ['** in the middle', 'd/**/a\n'],
    ['** inside a name', 'd**\na**/a\n'],
    ['three stars', '***/a\nd/***\n'],
    ['classes', '[ab]\n[!a-z].c\n[[:upper:]]\n'],
    ['classes that do not close', 'a[\n[a\n[\n'],
    ['a class of no known name', '[[:nothing:]a]\n'],
    ['classes with brackets, ranges and slashes', '[]]\n[]-a]\nd[/]a\n[a\\]]\n[d/]\n'],
    ['escapes', '\\#a\n\\!a\na\\*b\n\\[a\\]\na\\?\n\\\\a\n'],
    ['a backslash before nothing', 'a\\\nb\n'],
    ['spaces at the end', 'a \nb  \n'],
    ['an escaped space at the end', 'a\\ \nb\\\\ \n'],
    ['line ends of other systems', 'a\r\n*.c\r\n'],
    ['comments, blank lines and a byte order mark', '\uFEFFa\n#b\n\n   \n'],
    ['nothing but marks', '!\n/\n//\n!/\n'],
    ['two slashes', 'd//a\nd/a//\n'],
    ['bytes, not characters', '?\n'],
    ['as many question marks as bytes', '??\n'],
    ['a last line without an end', 'a'],
  ])('%s', async (_, rules) => {
    using box = makeSandbox();
    plant(box);
    writeRules(box, { '': rules });
    expect(await asWeSee(box)).toEqual(asGitSees(box));
  });

  test('any rules in any folders leave out what git leaves out', async () => {
    using box = makeSandbox();
    plant(box);
    const piece = fc.constantFrom(...PIECES);
    const line = fc
      .tuple(
        fc.constantFrom('', '', '!', '/'),
        fc.array(piece, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('', '', '/'),
      )
      .map(([before, pieces, after]) => before + pieces.join('') + after);
    const text = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`);
    const folders = fc.record({ '': text, d: text, 'd/e': text, e: text }, { requiredKeys: [''] });
    await fc.assert(
      fc.asyncProperty(folders, async (rules) => {
        writeRules(box, rules);
        expect(await asWeSee(box)).toEqual(asGitSees(box));
      }),
      { numRuns: 150 },
    );
  });
});

describe('a walk that heeds .gitignore', () => {
  test('begins with the rules of the folders above it, as far as the roots go', async () => {
    using box = makeSandbox();
    plant(box);
    writeRules(box, { '': '*.c\n/d/e/a\n' });
    writeFileSync(`${box.base}/.gitignore`, 'b\n'); // outside the root
    const ours = await asWeSee(box, 'd/e');
    expect(ours).toEqual(asGitSees(box).filter((path) => path.startsWith('d/e/')));
    expect(ours).toContain('d/e/b');
  });

  test('takes a repository inside another by its own rules', async () => {
    using box = makeSandbox();
    for (const file of ['in/a.c', 'in/b', 'in/.git/config', 'a.c']) box.file(file);
    box.file('.gitignore', '*.c\n');
    box.file('in/.gitignore', 'b\n');
    expect(await asWeSee(box)).toEqual(['in/a.c']);
  });

  test('gives what was asked for by name although a rule leaves its folder out', async () => {
    using box = makeSandbox();
    box.file('.gitignore', 'built/\n');
    box.file('built/x/a');
    expect(await asWeSee(box)).toEqual([]);
    expect(await asWeSee(box, 'built')).toEqual(['built/x/a']);
  });

  test('takes no rules from a link, a pipe or a folder of that name', async () => {
    using box = makeSandbox();
    writeFileSync(`${box.outside}/rules`, 'a\n');
    for (const folder of ['link', 'pipe', 'folder']) box.file(`${folder}/a`);
    symlinkSync(`${box.outside}/rules`, box.at('link/.gitignore'));
    run('mkfifo', box.at('pipe/.gitignore'));
    mkdirSync(box.at('folder/.gitignore'));
    expect(await asWeSee(box)).toEqual(['folder/a', 'link/a', 'pipe/a']);
  });

  test('leaves `.git` out only when asked to', async () => {
    using box = makeSandbox();
    for (const file of ['.git/config', 'a', 'worktree/.git']) box.file(file);
    expect(await asWeSee(box)).toEqual(['a']);
    expect((await globPaths(box.set, box.root, '**', { dot: true })).matches).toContain(
      box.at('.git/config'),
    );
  });
});

describe('caps', () => {
  const ignores = (text: string, name: string): boolean =>
    new IgnoreRules(text).verdict(name, () => name, false, { left: MAX_IGNORE_STEPS }) === true;

  test(`of a file ${MAX_IGNORE_BYTES} bytes count`, async () => {
    using box = makeSandbox();
    for (const name of ['early', 'late']) box.file(name);
    box.file('.gitignore', `early\n${'#'.repeat(MAX_IGNORE_BYTES)}\nlate\n`);
    expect(await asWeSee(box)).toEqual(['late']);
  });

  test(`of a file ${MAX_IGNORE_RULES} rules count`, () => {
    const rules = Array.from({ length: MAX_IGNORE_RULES + 1 }, (_, i) => `r${i}`).join('\n');
    expect(ignores(rules, `r${MAX_IGNORE_RULES - 1}`)).toBe(true);
    expect(ignores(rules, `r${MAX_IGNORE_RULES}`)).toBe(false);
  });

  test(`a rule of more than ${MAX_RULE_BYTES} bytes is none`, () => {
    expect(ignores('n'.repeat(MAX_RULE_BYTES), 'n'.repeat(MAX_RULE_BYTES))).toBe(true);
    expect(ignores('n'.repeat(MAX_RULE_BYTES + 1), 'n'.repeat(MAX_RULE_BYTES + 1))).toBe(false);
  });

  test('the worst pattern ends with the effort, however little that is', () => {
    const pattern = parsePattern(`${'**/*a*a*a'.repeat(100)}b`, true);
    for (const left of [0, 1, 1000, 100_000]) {
      const effort = { left };
      expect(pattern?.matches('a/aaaa'.repeat(600), effort)).toBe(false);
      expect(effort.left).toBe(-1);
    }
  });

  test(`what takes more than ${MAX_IGNORE_STEPS} steps to tell is left out, and the list says that it is not whole`, async () => {
    using box = makeSandbox();
    for (const name of ['short', 'a'.repeat(250)]) box.file(name);
    box.file('.gitignore', `/**/*${'a'.repeat(125)}b\n`.repeat(1900));
    const { entries, truncated } = await listDirectory(box.set, box.root, { gitignore: true });
    expect(entries.map(({ name }) => name)).toEqual(['.gitignore', 'short']);
    expect(truncated).toBe(true);
  });

  test('a file of nothing but classes is read in little memory', () => {
    const before = process.memoryUsage();
    const rules = new IgnoreRules(`${'[!a]'.repeat(250)}\n`.repeat(256));
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    expect(heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
    expect(rules.verdict('b'.repeat(250), () => '', false, { left: MAX_IGNORE_STEPS })).toBe(true);
  });

  test('of a deep path every folder above is looked at once, and others have their turn meanwhile', async () => {
    using box = makeSandbox();
    const deep = 'd/'.repeat(800);
    mkdirSync(box.at(deep), { recursive: true });
    box.file(`${'d/'.repeat(10)}.gitignore`, 'left-out\n');
    for (const name of ['left-out', 'kept']) box.file(deep + name);
    const opens: number[] = [];
    const counted = new RootSet([box.root]);
    const contains = counted.rootOf.bind(counted);
    counted.rootOf = (path) => {
      opens.push(path.length);
      return contains(path);
    };
    const { entries } = await listDirectory(counted, box.at(deep), { gitignore: true });
    expect(entries.map(({ name }) => name)).toEqual(['kept']);
    expect(opens.length).toBeLessThan(20);
  });
});
