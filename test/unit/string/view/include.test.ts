import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { REQUEST_TIMEOUT_MS } from '../../../../src/string/web/guarded-request.js';
import type { CommandCall } from '../../../../src/string/command.js';
import { expandIncludes, INCLUDE_TIMEOUT_MS } from '../../../../src/string/view/include.js';
import { loadMenus, MENUS_TIMEOUT_MS } from '../../../../src/string/view/menus.js';
import { parsePage } from '../../../../src/string/document/page.js';
import { PageCache } from '../../../../src/string/document/page-cache.js';
import { readRemote, PACKAGE_TIMEOUT_MS } from '../../../../src/string/packages/read-source.js';

/** Nobody ever gets an answer. */
async function keepWaiting(): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('all that a page includes has one time together, and it is shown without the rest', async () => {
  await using server = await keepWaiting();
  const page = parsePage('begin\n[!include:a](a.md)\n[!include:b](b.md)\nend\n');
  const loaded = { ok: true, uri: `${server.origin}/p.md`, page, source: page.source, remote: true } as const;
  const runtime = { pages: new PageCache() } as unknown as CommandCall['runtime'];
  const shown = await expandIncludes({ runtime, signal: new AbortController().signal }, loaded, 50);
  expect(shown.source).toBe(
    'begin\n⚠ Include failed: a.md#a (there is no time left)\n⚠ Include failed: b.md#b (there is no time left)\nend\n',
  );
  expect(INCLUDE_TIMEOUT_MS).toBeGreaterThan(REQUEST_TIMEOUT_MS);
});

test('all menus of a page have one time together, and it is shown without them', async () => {
  await using server = await keepWaiting();
  const page = parsePage('[!nav:a](a.md)\n[!nav:b](b.md)\n# Page\n');
  const loaded = { ok: true, uri: `${server.origin}/p.md`, page, source: page.source, remote: true } as const;
  const runtime = { pages: new PageCache() } as unknown as CommandCall['runtime'];
  const { signal } = new AbortController();
  expect(await loadMenus({ runtime, signal }, loaded, 50)).toEqual({
    menus: [],
    warnings: [
      { line: 1, message: 'menu a: there is no time left' },
      { line: 2, message: 'menu b: there is no time left' },
    ],
  });
  expect(MENUS_TIMEOUT_MS).toBeLessThanOrEqual(REQUEST_TIMEOUT_MS);
});

test('all files of a package have one time together', async () => {
  await using server = await keepWaiting();
  const { signal } = new AbortController();
  await expect(readRemote(`${server.origin}/m.json`, 'any', signal, 50)).rejects.toMatchObject({
    failure: { code: 'TIMEOUT' },
  });
  expect(PACKAGE_TIMEOUT_MS).toBeGreaterThan(REQUEST_TIMEOUT_MS);
});
