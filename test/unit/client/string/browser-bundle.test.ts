// The entry for browsers: bundled for one, it brings nothing of Node, and runs where there is none.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../../helpers/remove-folder.js';
import { event, HEAD, scriptedFetch, stream } from './scripted-fetch.js';

const entry = fileURLToPath(new URL('../../../../src/client/string/browser.ts', import.meta.url));

interface Metafile {
  readonly inputs: Readonly<
    Record<string, { readonly imports: readonly { readonly path: string; readonly external?: boolean }[] }>
  >;
}

const folder = mkdtempSync(join(tmpdir(), 'hawser-bundle-'));
const program = join(folder, 'client.js');
let metafile: Metafile;

// By esbuild's own command: as a library it leaves a service running.
beforeAll(() => {
  const esbuild = createRequire(import.meta.url).resolve('esbuild/bin/esbuild');
  const options = [
    '--bundle',
    '--platform=browser',
    '--format=iife',
    '--global-name=hawser',
    '--target=es2022',
  ];
  const out = [`--outfile=${program}`, `--metafile=${program}.json`, '--log-level=error'];
  execFileSync(esbuild, [entry, ...options, ...out]);
  metafile = JSON.parse(readFileSync(`${program}.json`, 'utf8')) as Metafile;
}, 60_000);

afterAll(() => removeFolder(folder));

test('nothing of Node is imported, and nothing of the rooms but types', () => {
  const inputs = Object.entries(metafile.inputs);
  const external = inputs.flatMap(([, { imports }]) => imports.filter(({ external: is }) => is === true));
  expect(external.map(({ path }) => path).filter((path) => path !== '<runtime>')).toEqual([]);
  const names = inputs.map(([name]) => name);
  expect(names.filter((name) => /src\/(string|host|guard|rexd|bus|cli)\//.test(name))).toEqual([]);
  expect(
    names.filter((name) => name.includes('node_modules') && !name.includes('eventsource-parser')),
  ).toEqual([]);
});

test('it runs where there is no process and no Buffer', async () => {
  const fetch = scriptedFetch(({ path, signal }) => {
    if (path === '/exec?stream=1')
      return stream([
        event('chunk', 'π'),
        event('head', HEAD),
        event('content', 're: x\nok'),
        event('done', {}),
      ]);
    if (path !== '/events/stream') return undefined;
    const text = event('event', { id: 'e1', text: 'hello' });
    return stream([event('ready', {}), text], 'open', signal);
  });
  const globals = {
    AbortController,
    AbortSignal,
    Response,
    TextDecoder,
    URLSearchParams,
    crypto,
    performance,
    setTimeout,
    clearTimeout,
    fetch,
  };
  const context = createContext({ ...globals, seen: [] as unknown[] });
  runInContext(readFileSync(program, 'utf8'), context);
  await (runInContext(
    `(async () => {
      const client = new hawser.StringClient();
      for await (const one of client.execStream('main', '/exec x')) seen.push(one.type);
      seen.push((await client.exec('main', '/info')).content);
      for await (const { text } of client.events()) { seen.push(text); break; }
      seen.push(typeof process, typeof Buffer);
    })()`,
    context,
  ) as Promise<void>);
  expect(context['seen']).toEqual(['chunk', 'result', 'fine', 'hello', 'undefined', 'undefined']);
});
