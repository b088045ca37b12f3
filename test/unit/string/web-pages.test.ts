// Pages of the web in topics: what they become, where their links lead, and where they never do.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makePlace } from './place.js';
import { markdown, serve } from './serve.js';

describe('a page of the web', () => {
  test('is opened, followed by its links, gone back to, and refreshed', async () => {
    let version = 1;
    await using server = await serve({
      '/docs/index.md': (request, response) => {
        expect(request.headers.accept).toBe('application/json, text/markdown, text/plain');
        if (request.headers['if-none-match'] === `"v${version}"`) return response.writeHead(304).end();
        return markdown(`---\ntitle: Docs ${version}\n---\n# Hi\n[@next Next](next.md) [Root](/root.md)\n`)(
          request,
          response.setHeader('etag', `"v${version}"`),
        );
      },
      '/docs/next.md': markdown('next page [!nav:x](y)'),
      '/root.md': markdown('root page'),
    });
    await using place = makePlace();
    const url = `${server.origin}/docs/index.md`;
    const opened = await place.run('main', `/open ${url}`);
    expect(opened.content).toBe(`Opened ${url}\n---\n# Hi\n[Next][@next] [Root](/root.md)`);
    expect(opened.meta).toMatchObject({ uri: url, title: 'Docs 1', converted: false });
    expect((await place.run('main', '/info')).content).toContain(`url:       ${url}\ntitle:     Docs 1\n`);
    expect((await place.run('main', '/source')).content).toContain(
      `[source: ${url}]\n---\n---\ntitle: Docs 1`,
    );
    expect(server.asked).toHaveLength(1);
    expect(await place.run('main', '/ls')).toMatchObject({ code: 'INVALID_TARGET' });
    expect(await place.run('main', '/ls ~')).toMatchObject({ ok: true });
    expect((await place.run('main', '/open @next')).content).toContain('next page');
    expect((await place.run('main', '/open /root.md')).content).toContain('root page');
    expect((await place.run('main', '/back')).content).toContain('next page');
    expect((await place.run('main', '/back')).content).toBe(
      `Back to ${url}\n---\n# Hi\n[Next][@next] [Root](/root.md)`,
    );
    version = 2;
    expect((await place.run('main', '/refresh')).meta).toMatchObject({ title: 'Docs 2' });
    expect((await place.run('main', '/open #hi')).content).toContain('# Hi');
    expect(await place.run('main', '/open gone.md')).toMatchObject({ code: 'NOT_FOUND' });
    writeFileSync(join(place.home, 'local.md'), 'local');
    expect((await place.run('main', '/open ~/local.md')).content).toContain('local');
  });

  test('of HTML becomes Markdown; its source is kept', async () => {
    const html =
      '<html><head><title>The  Title</title><script>x()</script></head><body><nav>menu</nav><main><h1>Head</h1><p>Some <b>text</b> and <a href="https://example.com/a">a link</a></p><pre><code>code</code></pre></main><footer>f</footer></body></html>';
    await using server = await serve({
      '/': (_, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html),
    });
    await using place = makePlace();
    const opened = await place.run('main', `/open ${server.origin}/`);
    expect(opened.content).toMatch(
      /^Opened \S+\nSource: HTML auto-converted[^\n]*\n---\n# Head\n\nSome \*\*text\*\* and \[a link\]\[@a-link\]\n\n```\ncode\n```$/,
    );
    expect(opened.meta).toMatchObject({ converted: true, title: 'The Title' });
    expect((await place.run('main', '/source')).content).toContain(html);
    expect((await place.run('main', '/info')).content).toContain(
      'source:    converted from HTML (use /source to view original)',
    );
  });

  test('of other kinds, and failures, are told apart', async () => {
    const files = [
      { path: 'string.md', url: '/first.md' },
      { path: 'a.md', content: 'a' },
    ];
    await using server = await serve({
      '/image': (_, response) =>
        response
          .writeHead(200, { 'content-type': 'image/gif' })
          .end(Buffer.from('4749463839610a001400', 'hex')),
      '/latin': (_, response) =>
        response
          .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
          .end(Buffer.from('sch\u00F6n', 'latin1')),
      '/binary': (_, response) =>
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(Buffer.alloc(4)),
      '/manifest': (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ files, install_hint: 'Install me' })),
      '/first.md': markdown('# First'),
      '/empty': (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"files":[{"path":"x.md","content":""}]}'),
      '/json': (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
      '/no': (_, response) => response.writeHead(403).end(),
      '/boom': (_, response) => response.writeHead(500).end(),
    });
    await using place = makePlace();
    const open = (path: string): ReturnType<typeof place.run> =>
      place.run('main', `/open ${server.origin}${path}`);
    expect((await open('/image')).content).toContain('type: image/gif\nsize: 10 bytes\ndimensions: 10 × 20');
    expect((await open('/latin')).content).toContain('schön');
    expect((await open('/manifest')).content).toContain('# First\n\nInstall me');
    // It is no HTML, and is not said to be.
    expect((await open('/manifest')).content).toContain(
      '\nSource: a manifest (use /source to view it)\n---\n',
    );
    expect((await open('/manifest')).meta?.converted).toBe(false);
    expect((await open('/json')).content).toContain('{"a":1}');
    expect(await open('/empty')).toMatchObject({
      code: 'LOAD_ERROR',
      content: expect.stringContaining('x.md'),
    });
    expect(await open('/binary')).toMatchObject({ code: 'LOAD_ERROR' });
    expect(await open('/no')).toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(await open('/boom')).toMatchObject({
      code: 'LOAD_ERROR',
      content: expect.stringContaining('HTTP 500 fetching'),
    });
    expect(await open('/gone')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.run('main', '/open http://127.0.0.1:1/')).toMatchObject({ code: 'LOAD_ERROR' });
    expect(await place.run('main', '/open ftp://x/y')).toMatchObject({
      code: 'LOAD_ERROR',
      content: expect.stringContaining('Unsupported URI scheme'),
    });
    expect(await place.run('other', '/ls')).toMatchObject({ ok: true });
  });

  test('never leads to files, nor to other places of this machine, by links, menus, includes or redirects', async () => {
    await using other = await serve({
      '/secret': markdown('SECRET'),
      '/menu.md': markdown('[@x X](/secret)'),
    });
    await using server = await serve({
      '/evil.md': (_, response) =>
        markdown(
          [
            `[!include:a](${other.origin}/secret)`,
            '[!include:b](file:///etc/hostname)',
            '[!include:c](~/secret.md)',
            `[!nav:m](${other.origin}/menu.md)`,
            '[!nav:n](file:///etc/passwd)',
            '[@file F](file:///etc/passwd) [@home H](~/secret.md) [@abs A](/etc/passwd) [@local L](http://localhost:1/x)',
            `[@other O](${other.origin}/secret) [@hop R](/redirect) [@js J](javascript:1)`,
          ].join('\n'),
        )(_, response),
      '/redirect': (_, response) => response.writeHead(302, { location: `${other.origin}/secret` }).end(),
    });
    await using place = makePlace();
    writeFileSync(join(place.home, 'secret.md'), 'SECRET');
    const opened = await place.run('main', `/open ${server.origin}/evil.md`);
    expect(opened.content).not.toContain('SECRET');
    expect(opened.content.match(/⚠ Include failed/gu)).toHaveLength(3);
    expect(opened.meta?.warnings).toHaveLength(2);
    expect(await place.run('main', '/open @file')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(await place.run('main', '/open @home')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.run('main', '/open @abs')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.run('main', '/open @local')).toMatchObject({ code: 'POLICY_DENIED' });
    expect(await place.run('main', '/open @other')).toMatchObject({ code: 'POLICY_DENIED' });
    expect(await place.run('main', '/open @hop')).toMatchObject({ code: 'POLICY_DENIED' });
    expect(await place.run('main', '/open @js')).toMatchObject({ code: 'LOAD_ERROR' });
    expect(other.asked).toEqual([]);
  });
});
