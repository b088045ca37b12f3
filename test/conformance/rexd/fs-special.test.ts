// Files that are not like others, and versions of those that are.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../kit/verifies.js';
import { startFiles } from './fs-client.js';

verifies('rexd/fs/special-files-all', async () => {
  await using files = await startFiles();
  const at = (name: string): string => join(files.root, name);
  execFileSync('mkfifo', [at('pipe')]);
  symlinkSync('pipe', at('link'));
  const names = ['pipe', 'socket', 'link'];
  if (process.geteuid?.() === 0) {
    execFileSync('mknod', [at('zero'), 'c', '1', '5']);
    names.push('zero');
  }
  const server = createServer().listen(at('socket'));
  await once(server, 'listening');
  try {
    for (const path of names) {
      for (const [method, params] of [
        ['fs.read', { path }],
        ['fs.read', { path, offset: 1, length: 10, encoding: 'base64' }],
        ['fs.write', { path, content: 'x' }],
        ['fs.write', { path, content: 'x', atomic: false }],
        ['fs.write', { path, content: 'x', mode: 'append' }],
        ['fs.write', { path, content: 'x', mode: 'create' }],
        ['fs.write', { path, content: 'x', expected_sha256: '0'.repeat(64) }],
        ['fs.edit', { path, old_string: 'a', new_string: 'b' }],
        ['fs.edit', { path, old_string: '', new_string: 'b' }],
        ['fs.patch', patch(`*** Update File: ${path}`, '@@', '-a', '+b')],
        ['fs.patch', patch(`*** Add File: ${path}`, '+b')],
        ['fs.copy', { from: path, to: 'copied' }],
        ['fs.search', { query: 'x', path }],
        ['fs.list', { path }],
      ] as const) {
        // Whoever waits for the other end of a pipe does not answer at all.
        expect((await files.refusal(method, params)).code, `${method} ${path}`).toBe(-32602);
      }
    }
    for (const path of names.filter((name) => name !== 'link'))
      expect(await files.ask('fs.stat', { path })).toMatchObject({ exists: true, type: 'other' });
    const listed = await files.ask('fs.list', { path: '.' });
    expect(listed['entries']).toContainEqual(expect.objectContaining({ name: 'pipe', type: 'other' }));
    expect((await files.ask('fs.glob', { pattern: '*' }))['matches']).toEqual(
      expect.arrayContaining(names.map(at)),
    );
    expect(await files.ask('fs.search', { query: 'x' })).toMatchObject({ matches: [], files_searched: 0 });
    // On the way of a copy they are passed by; a name can be moved and removed whatever it is.
    files.put('tree/a', 'x');
    execFileSync('mkfifo', [at('tree/pipe')]);
    expect(await files.ask('fs.copy', { from: 'tree', to: 'copied', recursive: true })).toMatchObject({
      entries: 2,
    });
    expect(readdirSync(at('copied'))).toEqual(['a']);
    await files.ask('fs.move', { from: 'pipe', to: 'moved' });
    expect(lstatSync(at('moved')).isFIFO()).toBe(true);
    await files.ask('fs.remove', { path: 'moved' });
    expect(existsSync(at('moved'))).toBe(false);
  } finally {
    server.close();
    await once(server, 'close');
  }
});

verifies('rexd/fs/hard-links', async () => {
  await using files = await startFiles();
  const { outside, root } = files.rexd.grounds;
  writeFileSync(join(outside, 'first'), 'first');
  for (const name of ['one', 'two', 'three', 'four']) linkSync(join(outside, 'first'), join(root, name));
  expect(await files.ask('fs.read', { path: 'one' })).toMatchObject({ content: 'first' });
  expect(await files.ask('fs.search', { query: 'first' })).toMatchObject({ files_searched: 4 });
  expect(await files.ask('fs.stat', { path: 'one' })).toMatchObject({ type: 'file', size: 5 });
  // A new file takes the name; whoever has the old one under another keeps it.
  await files.ask('fs.write', { path: 'one', content: 'mine' });
  await files.ask('fs.edit', { path: 'two', old_string: 'first', new_string: 'mine' });
  await files.ask('fs.patch', patch('*** Update File: three', '@@', '-first', '+mine'));
  await files.ask('fs.copy', { from: 'four', to: 'copy' });
  await files.ask('fs.write', { path: 'copy', content: 'mine', atomic: false });
  await files.ask('fs.move', { from: 'four', to: 'five' });
  expect(readFileSync(join(outside, 'first'), 'utf8')).toBe('first');
  expect(statSync(join(outside, 'first')).nlink).toBe(2);
  await files.ask('fs.remove', { path: 'five' });
  expect(readFileSync(join(outside, 'first'), 'utf8')).toBe('first');
});

verifies('rexd/fs.write/expected-sha256', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'theirs');
  const mtime = Math.floor(statSync(path).mtimeMs);
  const current = { mtime, size: 6, sha256: sum('theirs') };
  const seen = { expected_sha256: sum('mine') };
  for (const [method, params] of [
    ['fs.write', { path, content: 'x', ...seen }],
    ['fs.write', { path, content: 'x', atomic: false, ...seen }],
    ['fs.write', { path, content: 'x', mode: 'append', ...seen }],
    ['fs.write', { path, content: 'x', expected_mtime: mtime - 1 }],
    ['fs.write', { path, content: 'x', expected_mtime: mtime, ...seen }],
    ['fs.edit', { path, old_string: 'theirs', new_string: 'x', ...seen }],
    ['fs.edit', { path, old_string: 'theirs', new_string: 'x', expected_mtime: mtime - 1 }],
    ['fs.edit', { path, old_string: 'mine', new_string: 'x', ...seen }], // not there, because it is another version
    ['fs.edit', { path, old_string: '', new_string: 'x', ...seen }],
  ] as const) {
    expect(await files.refusal(method, params), JSON.stringify(params)).toMatchObject({
      code: -32006,
      data: { path, current },
    });
  }
  expect(readFileSync(path, 'utf8')).toBe('theirs');
  // What the refusal told is what the next try needs.
  await files.ask('fs.write', {
    path,
    content: 'mine',
    expected_sha256: current.sha256,
    expected_mtime: mtime,
  });
  await files.ask('fs.edit', {
    path,
    old_string: 'mine',
    new_string: 'ours',
    expected_sha256: sum('mine').toUpperCase(),
  });
  expect(readFileSync(path, 'utf8')).toBe('ours');
  const gone = { path: 'gone', content: 'x', ...seen };
  expect(await files.refusal('fs.write', gone)).toMatchObject({ code: -32006, data: { current: null } });
  const edit = { path: 'gone', old_string: 'a', new_string: 'x' };
  expect(await files.refusal('fs.edit', { ...edit, ...seen })).toMatchObject({
    code: -32006,
    data: { current: null },
  });
  expect(await files.refusal('fs.edit', edit)).toMatchObject({ code: -32602, data: { reason: 'not_found' } });
  for (const bad of ['', 'xyz', `${sum('a')}0`, 5])
    expect((await files.refusal('fs.write', { ...gone, expected_sha256: bad })).code).toBe(-32602);
});

verifies('rexd/fs.write/keeps', async () => {
  await using files = await startFiles();
  const path = files.put('sub/a.sh', 'first\n');
  chmodSync(path, 0o4751);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) chownSync(path, 1234, 4321);
  chmodSync(path, 0o751);
  symlinkSync('sub/a.sh', join(files.root, 'link'));
  for (const [method, params] of [
    ['fs.write', { path: 'link', content: 'first\nsecond\n' }],
    ['fs.edit', { path: 'link', old_string: 'second', new_string: 'third' }],
    ['fs.patch', patch('*** Update File: link', '@@', '-third', '+fourth')],
    ['fs.write', { path: 'link', content: 'fifth\n', mode: 'append' }],
    ['fs.write', { path: 'link', content: 'last\n', atomic: false }],
  ] as const) {
    await files.ask(method, params);
    const { mode, uid, gid } = statSync(path);
    expect([mode & 0o7777, uid, gid], method).toEqual([0o751, isRoot ? 1234 : uid, isRoot ? 4321 : gid]);
    expect(lstatSync(join(files.root, 'link')).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(files.root, 'sub'))).toEqual(['a.sh']);
  }
  expect(readFileSync(path, 'utf8')).toBe('last\n');
});

function patch(...lines: string[]): { patch_text: string } {
  return { patch_text: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') };
}

function sum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
