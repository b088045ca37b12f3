// Editing: what is said and what is then in the file, what is refused, and the way back.

import { readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAX_EDIT_VIEW_LINES } from '../../../src/string/commands/edit.js';
import { MAX_PREVIEW_CHARS } from '../../../src/string/commands/verify.js';
import { MAX_SHOWN_MATCHES } from '../../../src/string/edit/edit-text.js';
import { MAX_EDIT_BYTES } from '../../../src/string/edit/text-file.js';
import { renderFeedback } from '../../../src/string/result.js';
import { MAX_SEEN_FILES, SeenFiles } from '../../../src/string/session/seen-files.js';
import { makePlace, type Place } from './place.js';

const HINT = '\n---\nUse /undo to revert.';

function put(place: Place, name: string, content: string | Buffer): void {
  writeFileSync(join(place.home, name), content);
}

function get(place: Place, name: string): string {
  return readFileSync(join(place.home, name), 'utf8');
}

describe('/write', () => {
  test('makes a file, with its folders, and says what is in it', async () => {
    await using place = makePlace();
    const outcome = await place.run('main', '/write a/b/note.md\none\ntwo\n');
    expect(outcome).toMatchObject({
      ok: true,
      content: `Created: a/b/note.md (8 bytes, 2 lines)\n---\n1 + one\n2 + two${HINT}`,
    });
    expect(get(place, 'a/b/note.md')).toBe('one\ntwo\n');
    expect(renderFeedback(outcome.result)).toBe('✓ ~/a/b/note.md — Added 2 lines\n\n 1 +│ one\n 2 +│ two');
  });

  test('takes a text in the same line', async () => {
    await using place = makePlace();
    await place.run('main', '/write note.md some  words --force');
    expect(get(place, 'note.md')).toBe('some  words --force');
    await place.run('main', '/write --force "my note.md" text');
    expect(get(place, 'my note.md')).toBe('text');
  });

  test('takes every name: ~, blanks, a hash in it', async () => {
    await using place = makePlace();
    await place.run('main', '/write ~/my note.md\nx');
    expect(get(place, 'my note.md')).toBe('x');
    put(place, 'c#.md', 'y');
    await place.run('main', '/write --force c#.md\nz');
    expect(get(place, 'c#.md')).toBe('z');
  });

  test('overwrites only what this topic has read, as it has read it', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'old\n');
    expect(await place.run('main', '/write a.md\nnew')).toMatchObject({
      ok: false,
      code: 'CONFLICT',
      content: expect.stringContaining('not read in this topic: a.md') as string,
    });
    await place.run('other', '/open a.md');
    expect(await place.run('main', '/write a.md\nnew')).toMatchObject({ code: 'CONFLICT' });
    await place.run('main', '/open a.md');
    expect((await place.run('main', '/write ~/a.md\nnew\n')).content).toBe(
      `Written: ~/a.md (4 bytes, 1 lines)\n---\n1   - old\n  1 + new${HINT}`,
    );
    // Its own write is known.
    expect(await place.run('main', '/write ~/a.md\nnewer\n')).toMatchObject({ ok: true });
    put(place, 'a.md', 'somebody else');
    expect(await place.run('main', '/write ~/a.md\nmine\n')).toMatchObject({
      code: 'CONFLICT',
      content: expect.stringContaining('has changed since') as string,
    });
    expect(get(place, 'a.md')).toBe('somebody else');
    expect(await place.run('main', '/write --force ~/a.md\nmine\n')).toMatchObject({ ok: true });
    expect(get(place, 'a.md')).toBe('mine\n');
  });

  test('sees a change of the same size by its time', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'one');
    await place.run('main', '/edit a.md');
    put(place, 'a.md', 'two');
    utimesSync(join(place.home, 'a.md'), new Date(), new Date(Date.now() + 5000));
    expect(await place.run('main', '/write a.md\nx')).toMatchObject({ code: 'CONFLICT' });
  });

  test('says how it is used', async () => {
    await using place = makePlace();
    for (const cmd of [
      '/write',
      '/write a.md',
      '/write --force',
      '/append',
      '/edit',
      '/verify',
      '/verify a.md',
    ])
      expect(await place.run('main', cmd), cmd).toMatchObject({
        code: 'INVALID_TARGET',
        content: expect.stringMatching(/^Usage: /u) as string,
      });
    expect(await place.run('main', '/edit https://example.org/a.md')).toMatchObject({
      code: 'INVALID_TARGET',
      content: 'Only files can be edited: https://example.org/a.md',
    });
    expect(await place.run('main', '/write #b\nx')).toMatchObject({
      code: 'INVALID_TARGET',
      content: expect.stringContaining('No document open.') as string,
    });
  });

  test('keeps the mode of a file, and a link a link', async () => {
    await using place = makePlace();
    put(place, 'run.sh', 'a');
    const { mode } = statSync(join(place.home, 'run.sh'));
    symlinkSync('run.sh', join(place.home, 'link.sh'));
    await place.run('main', '/write --force link.sh\nb');
    expect(get(place, 'run.sh')).toBe('b');
    expect(statSync(join(place.home, 'run.sh')).mode).toBe(mode);
    expect(readdirSync(place.home).sort()).toEqual(['link.sh', 'run.sh']);
  });
});

describe('/append', () => {
  test('ends the last line first', async () => {
    await using place = makePlace();
    put(place, 'log.md', 'one');
    expect((await place.run('main', '/append log.md\ntwo\n')).content).toBe(
      `Appended to: log.md (now 8 bytes)\n---\n1   - one\n  1 + one\n  2 + two${HINT}`,
    );
    await place.run('main', '/append log.md three');
    expect(get(place, 'log.md')).toBe('one\ntwo\nthree');
    expect(await place.run('main', '/append no.md\nx')).toMatchObject({
      code: 'NOT_FOUND',
      content: 'File not found: no.md',
    });
  });

  test('adds to a block', async () => {
    await using place = makePlace();
    put(place, 'n.md', '<!-- #b -->\n\n- one\n\n<!-- /b -->\n');
    const outcome = await place.run('main', '/append n.md#b\n- two');
    expect(get(place, 'n.md')).toBe('<!-- #b -->\n\n- one\n- two\n\n<!-- /b -->\n');
    expect(renderFeedback(outcome.result)).toContain('✓ ~/n.md#b — Added 1 line\n');
  });
});

describe('/edit', () => {
  test('shows the source with numbers, and counts as reading', async () => {
    await using place = makePlace();
    put(place, 'a.md', '---\nt: 1\n---\ntext\n');
    expect((await place.run('main', '/edit a.md')).content).toBe(
      '[editing: a.md]\n---\n 1 | ---\n 2 | t: 1\n 3 | ---\n 4 | text\n\n(4 lines)',
    );
    expect((await place.run('main', '/edit a.md\nall new\n')).content).toMatch(
      /^Edited a\.md \(1 lines, whole file\)\n---\n/,
    );
    expect(get(place, 'a.md')).toBe('all new\n');
    expect(await place.run('other', '/edit a.md\nx')).toMatchObject({ code: 'CONFLICT' });
    expect(await place.run('main', '/edit no.md')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.run('main', '/edit no.md\nx')).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('is of the document that is open when no path is said', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'one\n');
    await place.run('main', '/open a.md');
    expect((await place.run('main', '/edit')).content).toBe('[editing: ~/a.md]\n---\n 1 | one\n\n(1 lines)');
    await place.run('main', '/append\ntwo\n');
    await place.run('main', '/replace\none\n---\n1');
    expect(get(place, 'a.md')).toBe('1\ntwo\n');
    expect(await place.run('main', '/write')).toMatchObject({ code: 'INVALID_TARGET' });
    await place.run('main', '/write\nall new\n');
    expect(get(place, 'a.md')).toBe('all new\n');
  });

  test('shows a block, some lines, and of a long file the first', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'x\n<!-- #b -->\ninner\n<!-- /b -->\n# H\nbelow\n');
    expect((await place.run('main', '/edit a.md#b')).content).toBe(
      '[editing: a.md#b]\n---\n 3 | inner\n\n(1 lines)',
    );
    expect((await place.run('main', '/edit a.md#h')).content).toBe(
      '[editing: a.md#h]\n---\n 5 | # H\n 6 | below\n\n(2 lines)',
    );
    expect((await place.run('main', '/edit a.md:L1-L2')).content).toContain(' 1 | x\n 2 | <!-- #b -->\n');
    put(place, 'my long.md', 'line\n'.repeat(MAX_EDIT_VIEW_LINES + 20));
    const { content } = await place.run('main', '/edit my long.md');
    expect(content).toContain(` ${MAX_EDIT_VIEW_LINES} | line\n... (20 more lines`);
    expect(content).toContain(`\n(${MAX_EDIT_VIEW_LINES + 20} lines)`);
    await place.run('main', '/set {_edit_max_lines} = "2"');
    expect((await place.run('main', '/edit my long.md')).content).toContain('   2 | line\n... (118 more');
  });

  test('replaces a block, and tells how blocks are made when there is none', async () => {
    await using place = makePlace();
    put(place, 'm.md', '# Meeting\n\n<!-- #decisions -->\n## Decisions\n(none yet)\n<!-- /decisions -->\n');
    await place.run('main', '/open m.md');
    const outcome = await place.run('main', '/edit #decisions\n## Decisions\n1. April\n2. Weekly');
    expect(outcome.content).toBe(
      [
        'Edited ~/m.md#decisions (3 lines)',
        '---',
        '2 2 | ',
        '3 3 | <!-- #decisions -->',
        '4 4 | ## Decisions',
        '5   - (none yet)',
        '  5 + 1. April',
        '  6 + 2. Weekly',
        '6 7 | <!-- /decisions -->',
        '---',
        'Use /undo to revert.',
      ].join('\n'),
    );
    expect(renderFeedback(outcome.result)).toBe(
      [
        '✓ ~/m.md#decisions — Added 2 lines, removed 1 line',
        '',
        ' 3  │ <!-- #decisions -->',
        ' 4  │ ## Decisions',
        ' 5 -│ (none yet)',
        ' 5 +│ 1. April',
        ' 6 +│ 2. Weekly',
        ' 7  │ <!-- /decisions -->',
      ].join('\n'),
    );
    expect(await place.run('main', '/edit m.md#nope\nx')).toMatchObject({
      code: 'NOT_FOUND',
      content: expect.stringMatching(
        /<!-- #nope -->.*\{#nope\}.*heading whose.*Available blocks: decisions/su,
      ) as string,
    });
  });

  test('refuses a text that would tear its block', async () => {
    await using place = makePlace();
    const text = '<!-- #b -->\nx\n<!-- /b -->\nafter\n';
    put(place, 'a.md', text);
    for (const body of ['<!-- /b -->', '```', '<!--'])
      expect(await place.run('main', `/edit a.md#b\n${body}`)).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(get(place, 'a.md')).toBe(text);
    expect(await place.run('main', '/undo')).toMatchObject({
      code: 'NOT_FOUND',
      content: 'Nothing to undo.',
    });
  });
});

describe('/replace', () => {
  test('replaces a piece that is there once', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'one two\nthree\n');
    expect((await place.run('main', '/replace a.md\ntwo\nthree\n---\n2\n3')).content).toMatch(
      /^Replaced 1 occurrence in a\.md\n---\n/,
    );
    expect(get(place, 'a.md')).toBe('one 2\n3\n');
    await place.run('main', '/replace a.md\n 2\n---\n');
    expect(get(place, 'a.md')).toBe('one\n3\n');
  });

  test('asks which, unless all are meant', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'x = 1\n'.repeat(MAX_SHOWN_MATCHES + 2));
    const { code, content } = await place.run('main', '/replace a.md\nx = 1\n---\ny');
    expect(code).toBe('CONFLICT');
    expect(content).toContain('7 matches in a.md');
    expect(content).toContain('  L5: x = 1\n  … and 2 more');
    expect((await place.run('main', '/replace a.md --all\nx = 1\n---\ny')).content).toMatch(
      /^Replaced 7 occurrences in a\.md\n/,
    );
    put(place, 'b.md', 'aaa');
    expect(await place.run('main', '/replace b.md\naa\n---\nb')).toMatchObject({ code: 'CONFLICT' });
  });

  test('says what is missing', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'text');
    expect(await place.run('main', '/replace a.md\nno\n---\ny')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.run('main', '/replace a.md\nno separator')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(await place.run('main', '/replace a.md\n---\ny')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(await place.run('main', '/replace a.md')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(await place.run('main', '/replace')).toMatchObject({ code: 'INVALID_TARGET' });
  });

  test('replaces lines, of the open document when no path is said', async () => {
    await using place = makePlace();
    put(place, 'a.md', '1\n2\n3\n4');
    expect((await place.run('main', '/replace a.md:L2-L3\nb\nc\nd')).content).toMatch(
      /^Replaced a\.md:L2-L3\n---\n/,
    );
    expect(get(place, 'a.md')).toBe('1\nb\nc\nd\n4');
    await place.run('main', '/open a.md');
    await place.run('main', '/replace :L5\nlast');
    await place.run('main', '/replace :L1-2 first');
    expect(get(place, 'a.md')).toBe('first\nc\nd\nlast');
    await place.run('main', '/replace :L2-L3\n');
    expect(get(place, 'a.md')).toBe('first\nlast');
    for (const range of [':L0', ':L3', ':L2-L1', ':L1-L9'])
      expect(await place.run('main', `/replace ${range}\nx`), range).toMatchObject({
        code: 'INVALID_TARGET',
        content: expect.stringContaining('2 lines') as string,
      });
  });

  test('replaces a block', async () => {
    await using place = makePlace();
    put(place, 'a.md', '# One\n\ntext\n\n# Two\n');
    expect((await place.run('main', '/replace a.md#one\nnew')).content).toMatch(
      /^Edited a\.md#one \(1 lines\)\n/,
    );
    expect(get(place, 'a.md')).toBe('# One\n\nnew\n\n# Two\n');
  });
});

describe('bytes', () => {
  test('line ends of a file stay what they are', async () => {
    await using place = makePlace();
    put(place, 'w.md', 'a\r\n<!-- #b -->\r\nold\r\n<!-- /b -->\r\nz\r\n');
    await place.run('main', '/edit w.md#b\none\ntwo');
    await place.run('main', '/replace w.md:L1\nA\nAA');
    await place.run('main', '/replace w.md\none\ntwo\n---\n1\n2');
    await place.run('main', '/append w.md\nend\n');
    expect(get(place, 'w.md')).toBe('A\r\nAA\r\n<!-- #b -->\r\n1\r\n2\r\n<!-- /b -->\r\nz\r\nend\r\n');
  });

  test('what is no UTF-8 is not touched', async () => {
    await using place = makePlace();
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0xe9, 10]), Buffer.from('# é\nold\n')]);
    put(place, 'l.md', bytes);
    await place.run('main', '/replace l.md\nold\n---\nnéw');
    expect(readFileSync(join(place.home, 'l.md'))).toEqual(
      Buffer.concat([Buffer.from([0xff, 0xfe, 0xe9, 10]), Buffer.from('# é\nnéw\n')]),
    );
    put(place, 'b.bin', Buffer.from([0, 1, 2]));
    expect(await place.run('main', '/edit b.bin')).toMatchObject({ code: 'LOAD_ERROR' });
  });

  test('a file that is too large is left alone', async () => {
    await using place = makePlace();
    put(place, 'big.md', Buffer.alloc(MAX_EDIT_BYTES + 1, 'x'));
    expect(await place.run('main', '/append big.md\nx')).toMatchObject({ code: 'LOAD_ERROR' });
  });
});

describe('/verify', () => {
  test('shows how a block begins', async () => {
    await using place = makePlace();
    put(place, 'a.md', `<!-- #b -->\n${'x'.repeat(300)}\ny\n<!-- /b -->\n# H\n`);
    expect((await place.run('main', '/verify a.md#b')).content).toBe(
      `Verified a.md#b (2 lines, 302 chars)\n---\n${'x'.repeat(MAX_PREVIEW_CHARS)}`,
    );
    await place.run('main', '/open a.md');
    expect((await place.run('main', '/verify #h')).content).toBe(
      'Verified ~/a.md#h (1 lines, 3 chars)\n---\n# H',
    );
    expect(await place.run('main', '/verify a.md#no')).toMatchObject({ code: 'NOT_FOUND' });
  });
});

test('of files that were seen, the oldest are forgotten', () => {
  const seen = new SeenFiles();
  const stamp = { mtimeMs: 1.5, size: 1 };
  for (let at = 0; at <= MAX_SEEN_FILES; at++) seen.note(`/f${at}`, stamp);
  expect(seen.compare('/f0', stamp)).toBe('never');
  expect(seen.compare('/f1', stamp)).toBe('same');
  expect(seen.compare('/f1', { ...stamp, size: 2 })).toBe('changed');
});
