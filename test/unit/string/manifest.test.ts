// Manifests of the web: their files are found by their paths, as in a folder.

import { expect, test } from 'vitest';
import { findEntry, parseManifest } from '../../../src/string/load/manifest.js';
import { makePlace } from './place.js';
import { markdown, type Route, serve } from './serve.js';

const json =
  (value: unknown): Route =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

test('while a manifest is read, relative opens lead to its files', async () => {
  const files = [
    {
      path: 'string.md',
      content: '[!nav:main](nav.md)\n# Start\n[@deep Deep](docs/deep.md)\n[!include:tip](docs/tips.md)\n',
    },
    { path: 'nav.md', content: '[@deep The deep](docs/deep.md)\n' },
    {
      path: 'docs/deep.md',
      content: '# Deep\n[@up Up](../string.md) [@other Other](other.md) [@out Out](plain.md)\n',
    },
    { path: 'docs/other.md', url: '/files/other-1.md' },
    { path: 'docs/tips.md', content: '<!-- #tip -->\na tip\n<!-- /tip -->\n' },
    { path: 'docs/a b.md', content: 'blank' },
  ];
  await using server = await serve({
    '/pkg/app.json': json({ files, install_hint: 'install me' }),
    '/files/other-1.md': markdown('# Other\n[@deep Deep](deep.md)\n'),
    '/pkg/docs/plain.md': markdown('plain'),
  });
  await using place = makePlace();
  const run = async (cmd: string): Promise<string> => (await place.run('main', cmd)).content;
  const [root, url] = [`${server.origin}/pkg`, `${server.origin}/pkg/app.json`];
  const opened = await place.run('main', `/open ${url}`);
  expect(opened.content).toBe(
    `Opened ${url}\nSource: a manifest (use /source to view it)\n---\n[nav] main — first view\n[The deep][@main.deep]\n\n# Start\n[Deep][@deep]\na tip\n\n\ninstall me`,
  );
  expect(opened.meta).toMatchObject({ uri: url, warnings: [] });
  expect(await run('/open docs/deep.md')).toMatch(
    new RegExp(`^Opened ${root}/docs/deep\\.md\\n---\\n# Deep\\n`, 'u'),
  );
  // From there by its own links: to another file, which is fetched from where the manifest says, and back up.
  expect(await run('/open @other')).toContain('# Other');
  expect(await run('/open @deep')).toContain('# Deep');
  expect(await run('/open "a b.md"')).toContain('blank');
  expect(await run('/back')).toContain('# Deep');
  expect(await run('/source')).toBe(`[source: ${root}/docs/deep.md]\n---\n${files[2]?.content ?? ''}`);
  await place.restart();
  expect(await run('/refresh')).toMatch(new RegExp(`^Refreshed ${root}/docs/deep\\.md\\n`, 'u'));
  expect(await run('/open other.md --lines 1-1')).toBe(
    `Opened ${root}/docs/other.md (lines 1-1 of 2)\n---\n# Other`,
  );
  expect(await run('/open deep.md#deep')).toContain('# Deep');
  expect(await run('/open @up')).toContain('# Start');
  // What the manifest does not have is what is really there, or not.
  expect(await run('/open docs/plain.md')).toContain('plain');
  await run(`/open ${url}`);
  expect(await place.run('main', '/open docs/none.md')).toMatchObject({ code: 'NOT_FOUND' });
  expect(await place.run('main', '/open /docs/deep.md')).toMatchObject({ code: 'NOT_FOUND' });
});

test('a file of a manifest is what its path says, and nothing else', () => {
  const manifest = parseManifest(
    JSON.stringify({
      files: ['a.md', './b.md', 'x/string.md', '../up.md', 'c%20d.md'].map((path) => ({ path })),
    }),
  );
  const find = (path: string): string | undefined =>
    findEntry(manifest ?? { files: [] }, 'https://h/p/m.json', new URL(path, 'https://h/p/').href)?.path;
  expect(find('a.md')).toBe('a.md');
  expect(find('b.md')).toBe('./b.md');
  expect(find('x/')).toBe('x/string.md');
  expect(find('c%2520d.md')).toBe('c%20d.md');
  for (const path of ['c%20d.md', 'a.md?x', '../p2/a.md', '../up.md', 'https://other/p/a.md', 'A.md', '%zz'])
    expect([path, find(path)]).toEqual([path, undefined]);
  for (const text of ['', '{', '[]', '{"files":{}}', '{"files":[{"path":1}]}'])
    expect([text, parseManifest(text)]).toEqual([text, undefined]);
});
