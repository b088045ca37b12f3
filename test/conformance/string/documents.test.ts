// Documents by the built daemon: what is shown, told and refused.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { turn } from '../kit/string-cli.js';
import { shareStringd, type StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();

interface Answer {
  readonly ok: boolean;
  readonly code: string | null;
  readonly topic: string;
  readonly meta: Record<string, unknown> | null;
  readonly text: string;
}

async function run(topic: string, cmd: string): Promise<Answer> {
  const { events } = await shared().exec(topic, cmd);
  const [head, content] = events.map(({ data }) => data) as [Omit<Answer, 'text'>, string];
  return { ...head, text: content.replace(/^re: [^\n]*\n/u, '') };
}

/** Each test has a folder of its own in the home of the agent. */
function put(
  stringd: StringdUnderTest,
  folder: string,
  files: Readonly<Record<string, string | Buffer>>,
): string {
  for (const [name, text] of Object.entries(files)) {
    const path = join(stringd.home, folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return join(stringd.home, folder);
}

const PAGE = `---
title: "Guide"
requires: [TOKEN]
---
[!nav:main](nav/main.md)
[!include:tips](tips.md)

# Guide

<!-- #decisions -->
## Decisions
1. Move deadline
<!-- /decisions -->

See [@more More](more.md), [the site](https://example.com/a) and [More][@gone].

\`\`\`act.search
GET https://example.com/{q}
  q: string (required) "what"
\`\`\`
`;
const FILES = {
  'page.md': PAGE,
  'nav/main.md': '[@home Home](../page.md)\n[@more More](../more.md)\n',
  'tips.md': '<!-- #tips -->\nA tip.\n<!-- /tips -->\n',
  'more.md': 'More of it.\n',
};

verifies(['string/documents/blocks', 'string/documents/shortcuts'], async (transport) => {
  const stringd = shared();
  put(stringd, `blocks-${transport}`, FILES);
  const say = async (payload: string): Promise<string> => {
    const answer = await turn(transport, stringd, `<𝒞=string:file:blocks-${transport}>\n${payload}\n</𝒞>\n`);
    return answer.split('\n').slice(1, -2).join('\n');
  };
  expect(await say(`/open ~/blocks-${transport}/page.md#decisions`)).toMatch(
    /\n---\n## Decisions\n1\. Move deadline$/u,
  );
  expect(await say('/open #decisions')).toMatch(/\n---\n## Decisions\n1\. Move deadline$/u);
  expect(await say('/open @more')).toMatch(/\n---\nMore of it\.$/u);
});

verifies(['string/documents/rendering', 'string/documents/hints', 'string/documents/meta'], async () => {
  const folder = put(shared(), 'render', FILES);
  const first = await run('render', '/open ~/render/page.md');
  expect(first.text.split('\n')).toEqual([
    `Opened ${folder}/page.md`,
    '---',
    '[nav] main — first view',
    '[Home][@main.home]',
    '[More][@main.more]',
    '[actions] search  ·  /act --help (all)  ·  /act.<name> --help',
    '[!] Missing required env: $TOKEN',
    '    Set: /set $TOKEN="..."',
    '',
    'A tip.',
    '',
    '# Guide',
    '',
    '## Decisions',
    '1. Move deadline',
    '',
    'See [More][@more], [the site][@the-site] and [More][@gone].',
  ]);
  expect(first.meta).toEqual({
    uri: pathToFileURL(join(folder, 'page.md')).href,
    title: 'Guide',
    current_block: null,
    block_id: null,
    menus: ['main'],
    actions: ['search'],
    history_length: 0,
    converted: false,
    warnings: ['Unknown shortcut: @gone'],
  });
  expect((await run('render', '/refresh')).text).toContain('\n[nav] main — /nav <name>\n');
});

verifies(['string/documents/nav', 'string/documents/info', 'string/documents/history'], async () => {
  put(shared(), 'nav', FILES);
  expect(await run('nav', '/nav')).toMatchObject({ code: 'INVALID_TARGET' });
  expect(await run('nav', '/back')).toMatchObject({
    code: 'INVALID_TARGET',
    text: 'ERROR(INVALID_TARGET): No previous page in history.',
  });
  await run('nav', '/open ~/nav/more.md');
  await run('nav', '/open page.md');
  await run('nav', '/open #decisions');
  expect((await run('nav', '/nav')).text).toMatch(/^Menus\n---\nmain \(2\): Home, More\n/u);
  expect((await run('nav', '/nav main')).text).toBe(
    'Menu: main\n---\n[Home][@main.home]\n[More][@main.more]',
  );
  expect(await run('nav', '/nav other')).toMatchObject({ code: 'NOT_FOUND' });
  expect((await run('nav', '/nav --resolve')).text).toContain('@main.more → ~/nav/more.md (menu)');
  expect((await run('nav', '/nav scaffold')).text).toMatch(/^Nav Scaffold\n---\n```/u);
  await run('nav', '/open page.md');
  expect((await run('nav', '/nav page')).text).toBe(
    'Shortcuts:\n  @more → more.md\nAuto:\n  @the-site → https://example.com/a\nuse: /open @id',
  );
  expect((await run('nav', '/info @more')).text).toBe('@more → more.md');
  expect(await run('nav', '/info @none')).toMatchObject({ code: 'NOT_FOUND' });
  expect((await run('nav', '/info')).text).toMatch(
    /\nfile: {6}~\/nav\/page\.md\ncwd: {7}~\/nav\/\ntitle: {5}Guide\nblocks: {4}#decisions, #tips\nmenus: {5}main\nshortcuts: @more, \+1 auto\nactions: {3}search\(GET\)\nhistory: {3}1 entry\n\nWarnings:\n {2}Unknown shortcut: @gone$/u,
  );
  expect((await run('nav', '/history')).text).toBe(
    'History\n---\n* 0  ~/nav/page.md  Guide\n  1  ~/nav/more.md',
  );
  expect((await run('nav', '/back')).text).toMatch(/^Back to \S+\/more\.md\n---\nMore of it\.$/u);
});

verifies('string/documents/includes', async () => {
  put(shared(), 'include', {
    'a.md': 'A\n[!include:b](b.md)\n[!include:x](none.md)\n',
    'b.md': '# b\nB\n[!include:c](c.md)\n',
    'c.md': '# c\nC\n[!include:b](b.md)\n',
  });
  const { text } = await run('include', '/open ~/include/a.md');
  expect(text).toContain(
    '\nA\n# b\nB\n# c\nC\n⚠ Circular include detected: b.md#b → c.md#c → b.md#b\n⚠ Include failed: none.md#x',
  );
});

verifies('string/documents/errors', async () => {
  const stringd = shared();
  const folder = put(stringd, 'errors', { 'a.md': 'text', 'b.bin': Buffer.from([1, 0, 2]) });
  symlinkSync('/etc/passwd', join(folder, 'link.md'));
  for (const [target, code] of [
    ['~/errors/none.md', 'NOT_FOUND'],
    ['~/errors/a.md#none', 'BLOCK_NOT_FOUND'],
    ['@none', 'NOT_FOUND'],
    ['app:none', 'NOT_FOUND'],
    ['#none', 'INVALID_TARGET'],
    ['~/errors/b.bin', 'LOAD_ERROR'],
    ['gopher://example.com/', 'LOAD_ERROR'],
    ['/etc/passwd', 'FILE_NOT_ALLOWED'],
    ['~/errors/link.md', 'FILE_NOT_ALLOWED'],
    ['http://127.0.0.1:1/', 'LOAD_ERROR'],
  ] as const)
    expect(await run('errors', `/open ${target}`), target).toMatchObject({ ok: false, code });
});

verifies(['string/documents/web', 'string/documents/distance'], async () => {
  const stringd = shared();
  put(stringd, 'web', { 'secret.md': 'SECRET' });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/page') {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(
        '<html><body><nav>no</nav><main><h1>Hello</h1><p><a href="/next">Go on</a></p></main></body></html>',
      );
    } else if (request.url === '/next') {
      response.writeHead(200, { 'content-type': 'text/markdown' });
      response.end(
        `[!include:x](file://${stringd.home}/web/secret.md)\n[!include:y](~/web/secret.md)\n[@f F](file://${stringd.home}/web/secret.md) [@d D](${stringd.url}/agents) [@r R](/away)\n`,
      );
    } else if (request.url === '/away') response.writeHead(302, { location: `${stringd.url}/health` }).end();
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const page = await run('web:x', `/open ${origin}/page`);
    expect(page).toMatchObject({ ok: true, meta: { converted: true, uri: `${origin}/page` } });
    expect(page.text).toMatch(
      /^Opened \S+\nSource: HTML auto-converted[^\n]*\n---\n# Hello\n\n\[Go on\]\(\/next\)$/u,
    );
    expect((await run('web:x', '/source')).text).toContain('<nav>no</nav>');
    const next = await run('web:x', '/open /next');
    expect(next.text.match(/⚠ Include failed/gu)).toHaveLength(2);
    expect(next.text).not.toContain('SECRET');
    expect(await run('web:x', '/open @f')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(await run('web:x', '/open @d')).toMatchObject({ code: 'POLICY_DENIED' });
    expect(await run('web:x', '/open @r')).toMatchObject({ code: 'POLICY_DENIED' });
    expect(await run('web:x', '/open none')).toMatchObject({ code: 'NOT_FOUND' });
    expect(asked).toContain('/away');
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

verifies('string/documents/parts', async () => {
  const png = Buffer.from(
    '89504e470d0a1a0a0000000d494844520000028000 0001e008060000 00'.replaceAll(' ', ''),
    'hex',
  );
  put(shared(), 'parts', { 'a.md': 'one\ntwo\nthree\n', 'a.png': png });
  expect((await run('parts', '/open ~/parts/a.md --lines 2-3')).text).toMatch(
    /\(lines 2-3 of 3\)\n---\ntwo\nthree$/u,
  );
  expect((await run('parts', '/search THREE')).text).toBe('Search: THREE — 1 line\n---\n   3 | three');
  expect((await run('parts', '/open a.png')).text).toContain(
    'type: image/png\nsize: 29 bytes\ndimensions: 640 × 480',
  );
});

verifies('string/documents/tabs', async () => {
  put(shared(), 'tabs', { 'index.md': '[@next Next](next.md)\n', 'next.md': '# Next\n' });
  await run('tabs', '/open ~/tabs/index.md');
  await run('tabs', '/set {city} = "Seoul"');
  expect(await run('tabs', '/open @next --tab beside')).toMatchObject({
    topic: 'beside',
    topic_type: 'tab',
    meta: { history_length: 0 },
  });
  expect((await run('beside', '/set')).text).toContain('{city} = "Seoul"');
  expect((await run('tabs', '/info')).text).toContain('~/tabs/index.md');
});

verifies('string/documents/manifest', async () => {
  const files = [
    { path: 'string.md', content: '# Start\n' },
    { path: 'docs/deep.md', content: '# Deep\n' },
  ];
  const server = createServer((request, response) => {
    if (request.url === '/pkg/app.json')
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ files }));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const folder = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pkg`;
    expect((await run('web:manifest', `/open ${folder}/app.json`)).text).toContain('# Start');
    expect((await run('web:manifest', '/open docs/deep.md')).text).toBe(
      `Opened ${folder}/docs/deep.md\n---\n# Deep`,
    );
    expect(await run('web:manifest', '/open gone.md')).toMatchObject({ code: 'NOT_FOUND' });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

verifies('string/documents/apps', async () => {
  const stringd = shared();
  const folder = put(stringd, 'packages/guide', { 'string.md': PAGE, 'tips.md': FILES['tips.md'] });
  writeFileSync(
    join(stringd.home, 'config.json'),
    JSON.stringify({ apps: { guide: pathToFileURL(join(folder, 'string.md')).href } }),
  );
  const opened = await run('elsewhere', '/open app:guide:one');
  expect(opened).toMatchObject({
    ok: true,
    topic: 'app:guide:one',
    meta: { title: 'Guide', actions: ['search'] },
  });
  expect((await run('app:guide:two', '/nav page')).text).toContain('@more → more.md');
  expect((await run('app:guide:one', '/info')).text).toMatch(/\napp: {7}app:guide:one\nname: {6}guide\n/u);
});
