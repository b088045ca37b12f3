// REXD v1: no method of fs.* leaves the roots, whatever lies in them.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../kit/verifies.js';
import { type FilesUnderTest, startFiles } from './fs-client.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const SECRET = 'top secret';

verifies('rexd/roots/paths', async () => {
  await using files = await startFiles();
  const { root, outside, otherRoot } = plant(files);
  mkdirSync(`${root}evil`);
  writeFileSync(`${root}evil/secret`, SECRET);
  for (const path of [
    '/etc/passwd',
    '//etc/passwd',
    '../outside/secret',
    `${root}/../outside/secret`,
    `${root}/sub/../../outside/secret`,
    `${root}/./sub/.././../outside/secret`,
    `${root}evil/secret`,
    join(outside, 'secret'),
    '/proc/self/root/etc/passwd',
    `/proc/self/cwd`,
    '/',
  ]) {
    for (const [method, params] of calls(path)) {
      const error = await files.refusal(method, params);
      expect(error.code, `${method} ${path}`).toBe(-32002);
      expect(error.data).toMatchObject({ path: expect.any(String), allowed_roots: [root, otherRoot] });
    }
  }
  await nothingFound(files, [`${outside}/*`, '/etc/*', '../outside/*', '../**', `${root}evil/*`]);
  unharmed(files);
});

verifies('rexd/roots/links', async () => {
  await using files = await startFiles();
  const { root, outside } = plant(files);
  for (const [name, target] of [
    ['to-folder', outside],
    ['to-relative', '../outside'],
    ['to-root', '/'],
    ['to-proc', '/proc/self/root'],
  ] as const) {
    symlinkSync(target, join(root, name));
  }
  symlinkSync(join(outside, 'secret'), join(root, 'to-file'));
  symlinkSync('to-file', join(root, 'to-link'));
  for (const path of [
    'to-folder/secret',
    'to-relative/secret',
    `to-root${outside}/secret`,
    `to-proc${outside}/secret`,
    `to-root/etc/passwd`,
  ]) {
    for (const [method, params] of calls(path)) {
      expect((await files.refusal(method, params)).code, `${method} ${path}`).toBe(-32002);
    }
  }
  for (const path of ['to-file', 'to-link']) {
    // Reading and writing follow a link; stat and remove are about the link itself.
    const following = calls(path).filter(
      ([method]) => !['fs.stat', 'fs.remove', 'fs.move', 'fs.mkdir'].includes(method),
    );
    for (const [method, params] of following) {
      if (JSON.stringify(params).includes('Delete File') || method === 'fs.list' || method === 'fs.copy')
        continue;
      expect((await files.call(method, params)).error, `${method} ${path}`).toMatchObject({
        code: expect.toBeOneOf([-32002, -32602]),
      });
    }
  }
  for (const path of ['to-folder', 'to-root', 'to-proc'])
    expect((await files.refusal('fs.list', { path })).code).toBe(-32002);
  expect(JSON.stringify(await files.ask('fs.list', { path: '.', recursive: true }))).not.toContain('secret');
  expect(await files.ask('fs.search', { query: 'secret', gitignore: false })).toMatchObject({ matches: [] });
  await nothingFound(files, ['to-folder/*', 'to-*/secret', 'to-root/etc/*', '**/secret', 'to-folder/**']);
  unharmed(files);
});

verifies('rexd/roots/dangling-link', async () => {
  await using files = await startFiles();
  const { root, outside } = plant(files);
  symlinkSync(join(outside, 'made'), join(root, 'dangling'));
  for (const options of [
    {},
    { mode: 'append' },
    { atomic: false },
    { mode: 'create' },
    { mkdir_parents: true },
  ]) {
    await files.refusal('fs.write', { path: 'dangling', content: 'x', ...options });
  }
  await files.refusal('fs.edit', { path: 'dangling', old_string: '', new_string: 'x' });
  await files.refusal('fs.patch', {
    patch_text: '*** Begin Patch\n*** Add File: dangling\n+x\n*** End Patch',
  });
  expect(readdirSync(outside)).toEqual(['secret']);
});

verifies('rexd/roots/temporary-names', async () => {
  await using files = await startFiles();
  const { root, outside } = plant(files);
  symlinkSync(join(outside, 'secret'), join(root, 'a.txt.rexd.tmp'));
  await files.ask('fs.write', { path: 'a.txt', content: 'mine' });
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('mine');
  expect(lstatSync(join(root, 'a.txt')).isFile()).toBe(true);
  unharmed(files);
});

verifies('rexd/roots/itself', async () => {
  await using files = await startFiles();
  const before = readdirSync(dirname(files.root)).sort();
  for (const path of [files.root, '.', `${files.root}/`]) {
    const refusals = [
      await files.refusal('fs.write', { path, content: 'x' }),
      await files.refusal('fs.remove', { path, recursive: true }),
      await files.refusal('fs.move', { from: path, to: 'sub/x' }),
    ];
    for (const refusal of refusals)
      expect(refusal).toMatchObject({
        code: -32002,
        message: expect.stringContaining('root itself'),
        data: { reason: 'root' },
      });
  }
  expect(readdirSync(dirname(files.root)).sort()).toEqual(before);
});

verifies('rexd/roots/session', async () => {
  await using files = await startFiles();
  const { otherRoot } = files.rexd.grounds;
  const path = files.put('a.txt', 'x');
  const narrow = await files.rexd.ask('session.open', { client_name: 't', workspace_roots: [otherRoot] });
  const { error } = await files.rexd.call('fs.read', { session_id: narrow['session_id'], path });
  expect(error).toMatchObject({ code: -32002, data: { path, allowed_roots: [otherRoot] } });
  expect(await files.ask('fs.read', { path })).toMatchObject({ content: 'x' });
});

verifies('rexd/roots/swap', async () => {
  await using files = await startFiles();
  const { root, outside } = plant(files);
  files.put('inside/secret', 'harmless');
  symlinkSync(outside, join(root, 'trap'));
  const end = Date.now() + 1500;
  let answered = 0;
  while (Date.now() < end || answered <= 10) {
    const requests = [
      ['fs.read', { path: 'inside/secret' }],
      ['fs.list', { path: 'inside' }],
      ['fs.glob', { pattern: 'inside/*' }],
      ['fs.write', { path: 'inside/new', content: 'x' }],
      ['fs.write', { path: 'inside/new', content: 'x', mode: 'append' }],
    ] as const;
    for (const [i, [method, params]] of requests.entries()) {
      const message = { jsonrpc: '2.0', id: i, method, params: { session_id: files.session, ...params } };
      files.rexd.write(`${JSON.stringify(message)}\n`);
    }
    for (let swaps = 0; swaps < 40; swaps++) {
      renameSync(join(root, 'inside'), join(root, 'aside'));
      renameSync(join(root, 'trap'), join(root, 'inside'));
      renameSync(join(root, 'inside'), join(root, 'trap'));
      renameSync(join(root, 'aside'), join(root, 'inside'));
    }
    for (let i = 0; i < requests.length; i++) {
      expect(await files.rexd.line()).not.toContain(SECRET);
      answered += 1;
    }
  }
  expect(answered).toBeGreaterThan(10);
  unharmed(files);
});

function plant(files: FilesUnderTest): { root: string; otherRoot: string; outside: string } {
  const { grounds } = files.rexd;
  writeFileSync(join(grounds.outside, 'secret'), SECRET);
  return grounds;
}

/** Every way to reach for a path. */
function calls(path: string): [string, object][] {
  const patch = (...lines: string[]): [string, object] => [
    'fs.patch',
    { patch_text: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') },
  ];
  return [
    ['fs.read', { path }],
    ['fs.write', { path, content: 'x' }],
    ['fs.write', { path, content: 'x', atomic: false }],
    ['fs.write', { path, content: 'x', mode: 'append' }],
    ['fs.write', { path, content: 'x', mode: 'create' }],
    ['fs.write', { path: join(path, 'a/b'), content: 'x', mkdir_parents: true }],
    ['fs.list', { path }],
    ['fs.stat', { path }],
    ['fs.search', { query: 'top', path }],
    ['fs.edit', { path, old_string: 'top', new_string: 'no' }],
    ['fs.mkdir', { path: join(path, 'new'), parents: true }],
    ['fs.remove', { path }],
    ['fs.move', { from: path, to: 'stolen' }],
    ['fs.copy', { from: path, to: 'stolen' }],
    patch(`*** Add File: ${join(path, 'new')}`, '+x'),
    patch(`*** Update File: ${path}`, '@@', `-${SECRET}`, '+x'),
    patch(`*** Delete File: ${path}`),
  ];
}

async function nothingFound(files: FilesUnderTest, patterns: readonly string[]): Promise<void> {
  for (const pattern of patterns) {
    const { result, error } = await files.call('fs.glob', { pattern });
    if (error === undefined)
      expect(result?.['matches'], pattern).not.toContainEqual(expect.stringMatching(/secret|passwd/));
    else expect(error.code, pattern).toBe(-32002);
  }
}

function unharmed(files: FilesUnderTest): void {
  const { outside, root } = files.rexd.grounds;
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe(SECRET);
  expect(existsSync(join(root, 'stolen'))).toBe(false);
  removeFolder(`${root}evil`);
}
