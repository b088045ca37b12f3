// Pages in topics: what is shown above them, menus, shortcuts, blocks, includes, apps, lines, and what is told about them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { MAX_LINES_FILE_BYTES } from '../../../src/string/commands/open-lines.js';
import { MAX_FOUND, SEARCH_MS } from '../../../src/string/commands/search.js';
import { MAX_EXPANDED_CHARS, MAX_INCLUDE_DEPTH, MAX_INCLUDES } from '../../../src/string/view/include.js';
import { MAX_MENUS } from '../../../src/string/view/menus.js';
import { MAX_DOCUMENT_BYTES } from '../../../src/string/files/load-document.js';
import { makePlace, type Place } from './place.js';

function write(place: Place, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.home, name)), { recursive: true });
    writeFileSync(join(place.home, name), text);
  }
}

const SHELF = {
  'shelf/string.md':
    '---\ntitle: Shelf\nname: shelf\nversion: 0.1.0\nrequires: [SHELF_DIR]\n---\n[!nav:main](nav/main.md)\n[!include:tips](tips.md)\n\n# Shelf\n\n<!-- #howto -->\nWrite [@note a note](notes/a.md) or [look](https://example.com/x).\n<!-- /howto -->\n\n```act.list\nCLI ls\n```\n',
  'shelf/nav/main.md':
    '# Menu\n[@home Shelf](../string.md)\n[@tips Tips](../tips.md#tips)\n[@a A](../notes/a.md)\n[@b B](b.md)\n',
  'shelf/tips.md': '# x\n<!-- #tips -->\nUse tips.\n<!-- /tips -->\n',
  'shelf/notes/a.md': 'note A',
  'shelf/requirements.md': 'set it',
};

describe('a page in a topic', () => {
  test('says what can be done with it: menus unfolded once, actions, what is missing', async () => {
    await using place = makePlace();
    write(place, SHELF);
    const first = await place.run('main', '/open shelf');
    expect(first.content).toBe(
      [
        `Opened ${place.home}/shelf/string.md`,
        '---',
        '[nav] main — first view',
        '[Shelf][@main.home]',
        '[Tips][@main.tips]',
        '[A][@main.a]',
        '[B][@main.b]',
        '[actions] list  ·  /act --help (all)  ·  /act.<name> --help',
        '[!] Missing required env: $SHELF_DIR',
        '    Set: /set $SHELF_DIR="..."',
        '    Setup: /open requirements.md',
        '',
        'Use tips.',
        '',
        '# Shelf',
        '',
        'Write [a note][@note] or [look][@look].',
      ].join('\n'),
    );
    expect(first.meta).toMatchObject({
      menus: ['main'],
      actions: ['list'],
      converted: false,
      warnings: [],
      title: 'Shelf',
    });
    expect((await place.run('main', '/refresh')).content).toContain('\n[nav] main — /nav <name>\n[actions]');
    expect((await place.run('other', '/open shelf')).content).toContain('[nav] main — first view');
    expect((await place.run('main', '/help')).content).toMatch(/Actions on this page:\n {2}\/act\.list$/);
  });

  test('its shortcuts and menus lead where they say, from where they stand', async () => {
    await using place = makePlace();
    write(place, SHELF);
    await place.run('main', '/open shelf');
    expect((await place.run('main', '/nav')).content).toBe(
      'Menus\n---\nmain (4): Shelf, Tips, A, ... (1 more)\n\nuse: /nav <name>',
    );
    expect((await place.run('main', '/nav main')).content).toContain(
      'Menu: main\n---\n[Shelf][@main.home]\n',
    );
    expect(await place.run('main', '/nav nope')).toMatchObject({
      code: 'NOT_FOUND',
      content: expect.stringContaining('Menu not found: nope'),
    });
    expect((await place.run('main', '/nav page')).content).toBe(
      'Shortcuts:\n  @note → notes/a.md\nAuto:\n  @look → https://example.com/x\nuse: /open @id',
    );
    expect((await place.run('main', '/nav --resolve')).content).toBe(
      'All shortcuts:\n  @note → ~/shelf/notes/a.md (inline)\n  @look → https://example.com/x (auto)\n  @main.home → ~/shelf/string.md (menu)\n  @main.tips → ~/shelf/tips.md#tips (menu)\n  @main.a → ~/shelf/notes/a.md (menu)\n  @main.b → ~/shelf/nav/b.md (menu)',
    );
    expect((await place.run('main', '/nav scaffold')).content).toContain(
      'Nav Scaffold\n---\n```markdown\n[@note a note](notes/a.md)\n[@look look](https://example.com/x)\n```',
    );
    expect((await place.run('main', '/info @note')).content).toBe('@note → notes/a.md');
    expect(await place.run('main', '/info @no')).toMatchObject({
      code: 'NOT_FOUND',
      content: 'Shortcut not found: @no',
    });
    expect((await place.run('main', '/open @main.tips')).content).toBe(
      `Opened ${place.home}/shelf/tips.md#tips\n---\nUse tips.`,
    );
    expect(await place.run('main', '/open @note')).toMatchObject({ code: 'NOT_FOUND' });
    await place.run('main', '/back');
    expect((await place.run('main', '/open @page.note')).content).toBe(
      `Opened ${place.home}/shelf/notes/a.md\n---\nnote A`,
    );
  });

  test('what it is known by outlives the daemon', async () => {
    await using place = makePlace();
    write(place, SHELF);
    const { meta } = await place.run('main', '/open shelf');
    await place.restart();
    const again = await place.run('main', '/info');
    expect(again.meta).toEqual(meta);
    expect(again.content).toContain('shortcuts: @note, +1 auto');
    expect((await place.run('main', '/open @note')).content).toContain('note A');
  });

  test('/info tells all of it', async () => {
    await using place = makePlace();
    write(place, SHELF);
    await place.run('main', '/open shelf#howto');
    expect((await place.run('main', '/info')).content).toMatch(
      /file: {6}~\/shelf\/string\.md\ncwd: {7}~\/shelf\/\ntitle: {5}Shelf\nblock: {5}#howto\nblocks: {4}#howto, #tips\nmenus: {5}main\nshortcuts: @note, \+1 auto\nactions: {3}list\(CLI\)$/,
    );
    const json = (await place.run('main', '/info --json')).content;
    expect(JSON.parse(json)).toMatchObject({ title: 'Shelf', block: '#howto', warnings: [] });
  });

  test('a block is a view: no step in the history, no hints', async () => {
    await using place = makePlace();
    write(place, SHELF);
    await place.run('main', '/open shelf/notes/a.md');
    const block = await place.run('main', '/open ../string.md#howto');
    expect(block.content).toBe(
      `Opened ${place.home}/shelf/string.md#howto\n---\nWrite [a note][@note] or [look][@look].`,
    );
    expect(block.meta).toMatchObject({ current_block: '#howto', block_id: 'howto', history_length: 1 });
    expect((await place.run('main', '/open #shelf')).content).toContain('# Shelf');
    expect((await place.run('main', '/open #tips')).content).toContain('Use tips.');
    expect((await place.run('main', '/open string.md')).meta).toMatchObject({
      current_block: null,
      history_length: 1,
    });
    expect(await place.run('main', '/open #nope')).toMatchObject({
      code: 'BLOCK_NOT_FOUND',
      content: 'Block not found: #nope\nAvailable blocks: howto, tips',
    });
    expect(await place.run('new', '/open #x')).toMatchObject({
      code: 'INVALID_TARGET',
      content: 'No document open.',
    });
    expect((await place.run('main', '/history')).content).toBe(
      'History\n---\n* 0  ~/shelf/string.md  Shelf\n  1  ~/shelf/notes/a.md',
    );
    expect((await place.run('main', '/back')).content).toContain('note A');
  });

  test('a name with # in it is found when there is no such block', async () => {
    await using place = makePlace();
    write(place, { 'c#.md': 'sharp' });
    expect((await place.run('main', '/open c#.md')).content).toContain('sharp');
  });

  test('warns of what it names and nobody knows, in what is told about it and never in the text', async () => {
    await using place = makePlace();
    write(place, {
      'a.md':
        '[X][@nope] [Y][@page.z] [!nav](x)\n\n[@z Z](b.md)\n[!nav:gone](gone.md)\n```act.bad\nnonsense\n```\n',
    });
    const { meta, content } = await place.run('main', '/open a.md');
    expect(meta?.warnings).toEqual([
      expect.stringMatching(/^line 4: menu gone: File not found/),
      expect.stringMatching(/^line 6: INVALID_ACTION_BLOCK/),
      'Unknown shortcut: @nope',
    ]);
    expect(content).not.toContain('Unknown');
    expect((await place.run('main', '/info')).content).toContain('\n\nWarnings:\n  line 4: menu gone');
  });

  test('a text that is no Markdown is shown as it is', async () => {
    await using place = makePlace();
    write(place, { 'a.py': 'x = [a](https://b)  # [!nav:x](y)\n```act.x\n' });
    expect((await place.run('main', '/open a.py')).content).toContain(
      'x = [a](https://b)  # [!nav:x](y)\n```act.x',
    );
  });
});

describe('includes', () => {
  test('are taken in, within each other, and a circle is told', async () => {
    await using place = makePlace();
    write(place, {
      'a.md':
        'A\n[!include:b](sub/b.md)\n[!include:no](gone.md)\n[!include:none](sub/b.md)\n[!include:own]()\nend\n',
      'sub/b.md': '<!-- #b -->\nB\n[!include:c](c.md#part)\n<!-- /b -->\nnot this\n',
      'sub/c.md': '## Part\nC\n[!include:b](b.md)\n',
      'a.md.source/own.md': '---\nx: 1\n---\nmine\n',
    });
    const { content } = await place.run('main', '/open a.md');
    expect(content).toContain(
      '---\nA\nB\n## Part\nC\n⚠ Circular include detected: b.md#b → c.md#part → b.md#b\n',
    );
    expect(content).toMatch(
      /⚠ Include failed: gone\.md#no \(File not found: [^\n]+\)\n⚠ Include failed: sub\/b\.md#none \(no block #none\)\nmine\nend$/,
    );
  });

  test('are bounded: MAX_INCLUDES, MAX_INCLUDE_DEPTH, MAX_EXPANDED_CHARS; menus: MAX_MENUS', async () => {
    await using place = makePlace();
    const deep = Object.fromEntries(
      Array.from({ length: MAX_INCLUDE_DEPTH + 2 }, (_, i) => [
        `d${i}.md`,
        `# b\nlevel ${i}\n[!include:b](d${i + 1}.md)\n`,
      ]),
    );
    write(place, {
      ...deep,
      'many.md': '[!include:b](one.md)\n'.repeat(MAX_INCLUDES + 1),
      'one.md': '# b\nx\n',
      'large.md': '[!include:b](big.md)\n[!include:b](big.md)\n',
      'big.md': `# b\n${'x'.repeat(MAX_EXPANDED_CHARS * 0.6)}`,
      'menus.md': Array.from({ length: MAX_MENUS + 1 }, (_, i) => `[!nav:m${i}](one.md)`).join('\n'),
    });
    expect((await place.run('main', '/open d0.md')).content).toContain('(too many includes)');
    const many = (await place.run('main', '/open many.md')).content;
    expect(many.match(/^x$/gmu)).toHaveLength(MAX_INCLUDES);
    expect(many).toContain('(too many includes)');
    expect((await place.run('main', '/open large.md')).content).toContain(
      `(more than ${MAX_EXPANDED_CHARS} characters in all)`,
    );
    expect((await place.run('main', '/open menus.md')).meta).toMatchObject({
      menus: { length: MAX_MENUS },
      warnings: [`line ${MAX_MENUS + 1}: more than ${MAX_MENUS} menus`],
    });
  });
});

describe('apps', () => {
  test('are opened in their topics, also by what needs their page', async () => {
    await using place = makePlace();
    write(place, SHELF);
    const uri = pathToFileURL(join(place.home, 'shelf/string.md')).href;
    writeFileSync(join(place.home, 'config.json'), JSON.stringify({ apps: { shelf: uri } }));
    const opened = await place.run('main', '/open app:shelf:work');
    expect(opened).toMatchObject({
      ok: true,
      topic: { name: 'app:shelf:work' },
      meta: { uri, title: 'Shelf' },
    });
    expect(opened.content).toContain('# Shelf');
    expect((await place.run('app:shelf:work', '/info')).content).toMatch(
      /app: {7}app:shelf:work\nname: {6}shelf\nversion: {3}0\.1\.0\ntitle: {5}Shelf\n/,
    );
    expect((await place.run('app:shelf', '/nav')).content).toContain('main (4)');
    expect((await place.run('app:shelf', '/open #howto')).content).toContain('Write');
    expect((await place.run('app:shelf', '/open')).content).toContain('# Shelf');
    expect((await place.run('main', '/open shelf#howto')).content).toContain('Write');
    await place.run('app:shelf', '/set $SHELF_DIR = "/x"');
    expect((await place.run('app:shelf', '/refresh')).content).not.toContain('Missing');
    expect(await place.run('main', '/open app:none')).toMatchObject({
      code: 'NOT_FOUND',
      content: "App 'none' is not installed.\nInstalled: shelf",
    });
    expect(await place.run('app:none', '/nav')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.run('main', '/open tool:none')).toMatchObject({ code: 'NOT_FOUND' });
    write(place, { 'tools/fmt.md': '# Formats' });
    expect((await place.run('main', '/open tool:fmt')).content).toContain('# Formats');
  });
});

describe('parts and searches', () => {
  test('lines of a file that is too large to be shown', async () => {
    await using place = makePlace();
    const lines = Array.from({ length: 300_000 }, (_, i) => `line ${i + 1} ${'x'.repeat(12)}`);
    write(place, { 'big.log': lines.join('\r\n'), 'small.md': 'one\ntwo\nthree\n' });
    expect(lines.join('\r\n').length).toBeGreaterThan(MAX_DOCUMENT_BYTES);
    expect(await place.run('main', '/open big.log')).toMatchObject({
      code: 'LOAD_ERROR',
      content: expect.stringContaining('--lines'),
    });
    expect((await place.run('main', '/open big.log --lines 299999-')).content).toBe(
      `Opened ${place.home}/big.log (lines 299999-300000 of 300000)\n---\n${lines[299_998]}\r\n${lines[299_999]}`,
    );
    expect((await place.run('main', '/open small.md --lines 2-2')).content).toBe(
      `Opened ${place.home}/small.md (lines 2-2 of 3)\n---\ntwo`,
    );
    expect((await place.run('main', '/open small.md --lines=3')).content).toMatch(/three$/);
    expect(await place.run('main', '/open small.md --lines 4-9')).toMatchObject({
      code: 'INVALID_TARGET',
      content: expect.stringContaining('has 3 lines'),
    });
    expect(await place.run('main', '/open small.md --lines 3-1')).toMatchObject({ code: 'INVALID_TARGET' });
    expect(await place.run('main', '/open small.md --lines x')).toMatchObject({ code: 'INVALID_TARGET' });
    expect(MAX_LINES_FILE_BYTES).toBeGreaterThan(10 * 1024 * 1024);
  });

  test('the lines may be named before the target; without any it is told', async () => {
    await using place = makePlace();
    write(place, { 'a b.md': 'one\ntwo\nthree\n' });
    for (const cmd of ['/open --lines 2-3 a b.md', '/open --lines=2-3 "a b.md"', '/open a b.md --lines 2-3'])
      expect([cmd, (await place.run('main', cmd)).content]).toEqual([
        cmd,
        expect.stringMatching(/ \(lines 2-3 of 3\)\n---\ntwo\nthree$/),
      ]);
    expect(await place.run('main', '/open a b.md --lines')).toMatchObject({ code: 'INVALID_TARGET' });
    await place.run('main', '/open a b.md');
    expect((await place.run('main', '/open #')).content).toBe('Block without a name: #');
  });

  test('/search in the document, and in files', async () => {
    await using place = makePlace();
    write(place, {
      'a.md': 'One\ntwo NEEDLE\n',
      'sub/b.txt': 'x needle y\n',
      'many.md': 'needle\n'.repeat(MAX_FOUND + 3),
    });
    expect((await place.run('main', '/search needle')).content).toContain('~/a.md:2: two NEEDLE');
    await place.run('main', '/open a.md');
    expect((await place.run('main', '/search needle')).content).toBe(
      'Search: needle — 1 line\n---\n   2 | two NEEDLE',
    );
    // Values of apps are shown masked, and never by accident.
    await place.run('app:weather', '/set $KEY = "sk-needle"');
    expect((await place.run('main', '/search sk-needle --files')).content).toContain('(nothing found)');
    expect((await place.run('main', '/search nothing here')).content).toBe(
      'Search: nothing here — 0 lines\n---\n(nothing found)',
    );
    expect((await place.run('main', '/search --files x needle')).content).toContain(
      '~/sub/b.txt:1: x needle y',
    );
    await place.run('main', '/open many.md');
    expect((await place.run('main', '/search needle')).content).toMatch(/ 200 \| needle\n… and 3 more$/);
    expect(await place.run('main', '/search')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(SEARCH_MS).toBe(15_000);
  });
});
