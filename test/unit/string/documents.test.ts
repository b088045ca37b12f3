// Documents and directories: what is shown, where names begin, and what an agent cannot reach.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { MAX_LISTED } from '../../../src/string/files/list-directory.js';
import { MAX_DOCUMENT_BYTES } from '../../../src/string/files/load-document.js';
import { MAX_REGISTRY_BYTES, readRegistry } from '../../../src/string/packages/registry.js';
import { MAX_HISTORY } from '../../../src/string/session/session.js';
import { makePlace } from './place.js';

describe('documents', () => {
  test('a file is opened, shown, and known by its address', async () => {
    await using place = makePlace();
    const path = join(place.home, 'my näme.md');
    writeFileSync(path, '---\ntitle: "Hello"\n---\n\n# Hi\ntext\n');
    const outcome = await place.run('main', '/open my näme.md');
    expect(outcome).toMatchObject({
      ok: true,
      content: `Opened ${path}\n---\n# Hi\ntext`,
      meta: { uri: pathToFileURL(path).href, title: 'Hello', current_block: null, history_length: 0 },
    });
    expect(place.runtime.topics()).toEqual([
      {
        topic: 'main',
        topic_type: 'tab',
        doc: { uri: pathToFileURL(path).href, title: 'Hello', current_block: null },
      },
    ]);
    expect((await place.run('main', '/info')).content).toMatch(
      /^Session info\n---\nstring: {4}v\S+\nfile: {6}~\/my näme\.md\ncwd: {7}~\/\ntitle: {5}Hello$/,
    );
    expect((await place.run('main', '/source')).content).toBe(
      `[source: ${pathToFileURL(path).href}]\n---\n---\ntitle: "Hello"\n---\n\n# Hi\ntext\n`,
    );
  });

  test('names begin at the document, then at the directory last opened, then at home', async () => {
    await using place = makePlace();
    mkdirSync(join(place.home, 'a/b'), { recursive: true });
    writeFileSync(join(place.home, 'a/one.md'), 'one');
    writeFileSync(join(place.home, 'a/b/two.md'), 'two');
    expect(await place.run('main', '/open one.md')).toMatchObject({ ok: false, code: 'NOT_FOUND' });
    expect((await place.run('main', '/open a/one.md')).content).toContain('one');
    expect((await place.run('main', '/open b/two.md')).content).toContain('two');
    expect((await place.run('main', '/open ../one.md')).content).toContain('one');
    expect((await place.run('main', '/open ~/a/b')).content).toBe(`Opened ${place.home}/a/b/\n---\n  two.md`);
    expect((await place.run('main', '/open two.md')).content).toContain('two');
    expect((await place.run('main', '/open')).content).toContain('two');
  });

  test('a directory shows its string.md, if it has one', async () => {
    await using place = makePlace();
    mkdirSync(join(place.home, 'site'));
    writeFileSync(join(place.home, 'site/string.md'), 'the index');
    expect((await place.run('main', '/open site')).content).toBe(
      `Opened ${place.home}/site/string.md\n---\nthe index`,
    );
  });

  test('back, refresh, and a close after which there is nothing to go back to', async () => {
    await using place = makePlace();
    writeFileSync(join(place.home, 'a'), 'A');
    writeFileSync(join(place.home, 'b'), 'B');
    expect(await place.run('main', '/back')).toMatchObject({
      code: 'INVALID_TARGET',
      content: 'No previous page in history.',
    });
    expect(await place.run('main', '/refresh')).toMatchObject({
      code: 'INVALID_TARGET',
      content: 'No document open.',
    });
    expect(await place.run('main', '/close')).toMatchObject({
      code: 'INVALID_TARGET',
      content: 'No document open.',
    });
    await place.run('main', '/open a');
    await place.run('main', '/open a');
    await place.run('main', '/open b');
    expect((await place.run('main', '/info')).content).toContain('history:   1 entry');
    writeFileSync(join(place.home, 'b'), 'B2');
    expect((await place.run('main', '/refresh')).content).toBe(`Refreshed ${place.home}/b\n---\nB2`);
    writeFileSync(join(place.home, 'a'), 'A2');
    expect((await place.run('main', '/back')).content).toBe(`Back to ${place.home}/a\n---\nA2`);
    expect(await place.run('main', '/back')).toMatchObject({ ok: false });
    expect(await place.run('main', '/close')).toMatchObject({
      ok: true,
      content: `Closed: ${pathToFileURL(join(place.home, 'a')).href}`,
      meta: null,
    });
    expect(place.runtime.topics()).toEqual([]);
    expect(await place.run('main', '/back')).toMatchObject({ ok: false });
  });

  test(`history keeps MAX_HISTORY pages (${MAX_HISTORY})`, async () => {
    await using place = makePlace();
    for (let i = 0; i <= MAX_HISTORY + 1; i++) {
      writeFileSync(join(place.home, `f${i}`), `${i}`);
      await place.run('main', `/open f${i}`);
    }
    const { meta } = await place.run('main', '/info');
    expect(meta?.history_length).toBe(MAX_HISTORY);
  });

  test('what cannot be shown is told apart', async () => {
    await using place = makePlace();
    writeFileSync(join(place.home, 'binary'), Buffer.from([1, 0, 2]));
    writeFileSync(join(place.home, 'large'), Buffer.alloc(MAX_DOCUMENT_BYTES + 1, 'x'));
    writeFileSync(join(place.home, 'fits'), Buffer.alloc(MAX_DOCUMENT_BYTES, 'x'));
    expect(await place.run('main', '/open nothing.md')).toMatchObject({
      code: 'NOT_FOUND',
      content: expect.stringContaining('Recovery:'),
    });
    expect(await place.run('main', '/open binary')).toMatchObject({ code: 'LOAD_ERROR' });
    expect(await place.run('main', '/open large')).toMatchObject({ code: 'LOAD_ERROR' });
    expect(await place.run('main', '/open fits')).toMatchObject({ ok: true });
    expect(await place.run('main', '/open fits#block')).toMatchObject({ code: 'BLOCK_NOT_FOUND' });
    expect(await place.run('main', '/open @home')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.run('main', '/open https://example.com/x')).toMatchObject({ code: 'LOAD_ERROR' });
    expect(await place.run('new', '/open')).toMatchObject({ code: 'INVALID_TARGET' });
  });
});

describe('what an agent may reach', () => {
  test('its home and what it was given, and nothing by way of links or dots', async () => {
    await using place = makePlace({ allow: ['shared', 'not-there'] });
    const shared = join(place.home, '../shared');
    mkdirSync(shared);
    writeFileSync(join(shared, 'ok.md'), 'shared text');
    writeFileSync(join(place.outside, 'secret'), 'secret');
    writeFileSync(join(place.home, 'in.md'), 'in');
    symlinkSync(join(place.outside, 'secret'), join(place.home, 'link'));
    symlinkSync(place.outside, join(place.home, 'dir'));
    symlinkSync(join(place.home, 'in.md'), join(place.home, 'inside'));
    for (const target of [
      'link',
      'dir/secret',
      'dir',
      '../outside/secret',
      join(place.outside, 'secret'),
      '/etc/passwd',
      `${place.home}x/y`,
      'file:///etc/passwd',
    ])
      expect(await place.run('main', `/open ${target}`), target).toMatchObject({
        ok: false,
        code: 'FILE_NOT_ALLOWED',
      });
    for (const target of ['dir', '..', '/', place.outside])
      expect(await place.run('main', `/ls ${target}`), target).toMatchObject({
        ok: false,
        code: 'FILE_NOT_ALLOWED',
      });
    expect((await place.run('main', '/open inside')).content).toContain('in');
    expect((await place.run('main', `/open ${join(place.home, '../shared/ok.md')}`)).content).toContain(
      'shared text',
    );
  });
});

describe('/ls', () => {
  test('folders first, files by name, nothing hidden', async () => {
    await using place = makePlace();
    for (const name of ['zoo', 'bar']) mkdirSync(join(place.home, name));
    for (const name of ['b.md', 'a.md', '.hidden']) writeFileSync(join(place.home, name), '');
    expect((await place.run('main', '/ls')).content).toBe('Listing ~/\n---\n  bar/\n  zoo/\n  a.md\n  b.md');
    expect((await place.run('main', '/ls bar')).content).toBe('Listing ~/bar/\n---\n  (empty)');
    expect(await place.run('main', '/ls a.md')).toMatchObject({
      code: 'INVALID_TARGET',
      content: 'Not a directory: a.md',
    });
    expect(await place.run('main', '/ls no')).toMatchObject({ code: 'NOT_FOUND', content: 'Not found: no' });
    expect(await place.run('app:x', '/ls')).toMatchObject({ code: 'INVALID_TARGET' });
  });

  test('MAX_LISTED names, and how many there are beside', async () => {
    await using place = makePlace();
    for (let i = 0; i < MAX_LISTED + 3; i++) writeFileSync(join(place.home, `f${i}`), '');
    const { content } = await place.run('main', '/ls');
    expect(content.split('\n')).toHaveLength(2 + MAX_LISTED + 1);
    expect(content).toMatch(/ {2}… and 3 more$/);
  });
});

test('a registry of more than MAX_REGISTRY_BYTES, or of nonsense, is empty', async () => {
  await using place = makePlace();
  const file = join(place.home, 'config.json');
  for (const text of ['{', '[]', '{"apps":{"a":1}}', `{"apps":{"a":"${'x'.repeat(MAX_REGISTRY_BYTES)}"}}`]) {
    writeFileSync(file, text);
    expect(readRegistry(place.home)).toEqual({ apps: {}, tools: {} });
  }
  writeFileSync(file, '{"apps":{"a":"file:///a"},"other":1}');
  expect(readRegistry(place.home)).toEqual({ apps: { a: 'file:///a' }, tools: {} });
});
