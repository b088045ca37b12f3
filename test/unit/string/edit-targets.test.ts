// What edits name, how they take turns, and what is told of them.

import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_DIFF_LINE_CHARS } from '../../../src/string/edit/show-diff.js';
import { renderFeedback } from '../../../src/string/result.js';
import { makePlace, type Place } from './place.js';

function put(place: Place, name: string, content: string): void {
  writeFileSync(join(place.home, name), content);
}

function get(place: Place, name: string): string {
  return readFileSync(join(place.home, name), 'utf8');
}

test('a quoted name is what is inside of the quotes, to every command that takes one', async () => {
  await using place = makePlace();
  const name = 'it\'s my "note".md';
  const quoted = `'it'"'"'s my "note".md'`;
  await place.run('main', `/write ${quoted} # A note`);
  expect(get(place, name)).toBe('# A note');
  await place.run('main', `/append ${quoted}\nmore`);
  expect(get(place, name)).toBe('# A note\nmore');
  for (const cmd of [
    `/open ${quoted}`,
    `/open ${quoted}#a-note`,
    `/open ${quoted} --lines 1-2`,
    `/edit ${quoted}`,
    `/verify ${quoted}#a-note`,
    `/verify "it's my \\"note\\".md#a-note"`,
    `/search "A note"`,
  ]) {
    const { ok, content } = await place.run('main', cmd);
    expect([cmd, ok, content]).toEqual([cmd, true, expect.stringContaining('note')]);
    expect(content).not.toContain('(nothing found)');
  }
  await place.run('main', '/write in a folder/x.md\nx');
  expect((await place.run('main', '/ls "~/in a folder"')).content).toContain('x.md');
  // An apostrophe alone is part of the name.
  await place.run('main', "/write 't.md x");
  expect((await place.run('main', "/open 't.md")).ok).toBe(true);
});

test('a shortcut names the file that it leads to, and its block', async () => {
  await using place = makePlace();
  put(place, 'menu.md', '[@log The log](log.md)\n');
  put(place, 'log.md', 'one\n\n<!-- #b -->\nold\n<!-- /b -->\n');
  put(
    place,
    'index.md',
    '[!nav:main](menu.md)\n[@log Log](log.md) [@part Part](log.md#b) [@web Web](https://example.org/x.md) [@top Top](#top)\n',
  );
  await place.run('main', '/open index.md');
  expect((await place.run('main', '/edit @log')).content).toMatch(
    /^\[editing: ~\/log\.md\]\n---\n 1 \| one\n/,
  );
  expect((await place.run('main', '/edit @part\nnew')).content).toMatch(/^Edited ~\/log\.md#b \(1 lines\)\n/);
  expect((await place.run('main', '/edit @main.log:L1\nfirst')).ok).toBe(true);
  expect((await place.run('main', '/append @page.log\nlast\n')).ok).toBe(true);
  expect((await place.run('main', '/verify @log#b')).content).toBe(
    'Verified ~/log.md#b (1 lines, 3 chars)\n---\nnew',
  );
  expect(get(place, 'log.md')).toBe('first\n\n<!-- #b -->\nnew\n<!-- /b -->\nlast\n');
  expect(await place.run('main', '/edit @web')).toMatchObject({
    code: 'INVALID_TARGET',
    content: 'Only files can be edited: https://example.org/x.md',
  });
  expect(await place.run('main', '/edit @none')).toMatchObject({
    code: 'NOT_FOUND',
    content: expect.stringMatching(/^Shortcut not found: @none\n/) as string,
  });
  // A file may have such a name: by its path, or when there is no such shortcut.
  await place.run('main', '/write ./@none\nx');
  expect((await place.run('main', '/edit @none')).content).toContain(' 1 | x');
  await place.run('main', '/write @scope/x.md\nx');
  expect(get(place, '@scope/x.md')).toBe('x');
  expect(await place.run('fresh', '/edit @log')).toMatchObject({ code: 'NOT_FOUND' });
});

test('a block that was emptied has no lines', async () => {
  await using place = makePlace();
  put(place, 'a.md', '<!-- #b -->\nold\n<!-- /b -->\n');
  expect((await place.run('main', '/edit a.md#b\n\n')).content).toMatch(/^Edited a\.md#b \(0 lines\)\n/);
  expect(get(place, 'a.md')).toBe('<!-- #b -->\n<!-- /b -->\n');
  expect((await place.run('main', '/edit a.md#b\none\n\n')).content).toMatch(/^Edited a\.md#b \(2 lines\)\n/);
});

test('a name that ends with a slash is no file', async () => {
  await using place = makePlace();
  for (const cmd of [
    '/write notes/ x',
    '/write notes/\nx',
    '/append notes/ x',
    '/write notes/#a\nx',
    '/edit ~/',
  ])
    expect([cmd, await place.run('main', cmd)]).toEqual([
      cmd,
      expect.objectContaining({
        code: 'INVALID_TARGET',
        content: expect.stringMatching(/^A folder, not a file: /) as string,
      }),
    ]);
  expect(readdirSync(place.home)).toEqual([]);
});

test('topics that edit one file at once wait for each other: nothing is refused, nothing is lost', async () => {
  await using place = makePlace();
  put(place, 'log.md', '# Log\n<!-- #a -->\n<!-- /a -->\n');
  const names = Array.from({ length: 24 }, (_, index) => `w${index}`);
  const outcomes = await Promise.all(
    names.map((name, index) =>
      place.run(`t${index}`, `/append log.md${index % 2 === 0 ? '#a' : ''}\n${name}`),
    ),
  );
  expect(outcomes.map(({ code }) => code)).toEqual(names.map(() => null));
  const lines = get(place, 'log.md').split('\n');
  expect(lines.filter((line) => line.startsWith('w')).toSorted()).toEqual(names.toSorted());
});

test('a link that leads nowhere is not written through, and told as such', async () => {
  await using place = makePlace();
  symlinkSync('nowhere.md', join(place.home, 'link.md'));
  const { code, content } = await place.run('main', '/write link.md\nx');
  expect([code, content]).toEqual(['CONFLICT', expect.stringContaining('a link that leads nowhere')]);
  expect(readdirSync(place.home)).toEqual(['link.md']);
});

test('of a very long line the difference shows MAX_DIFF_LINE_CHARS; the file has all of it', async () => {
  await using place = makePlace();
  const long = `x${'😀'.repeat(MAX_DIFF_LINE_CHARS)}`;
  const { content, result } = await place.run('main', `/write long.md\n${long}`);
  const shown = `x${'😀'.repeat(MAX_DIFF_LINE_CHARS / 2 - 1)}… (${MAX_DIFF_LINE_CHARS + 2} more characters)`;
  expect(content).toContain(`---\n1 + ${shown}\n---`);
  expect(renderFeedback(result)).toContain(` 1 +│ ${shown}`);
  expect(get(place, 'long.md')).toBe(long);
  const { content: changed } = await place.run('main', '/append long.md more');
  expect(changed).toContain(`1   - ${shown}\n  1 + ${shown}\n  2 + more`);
});
