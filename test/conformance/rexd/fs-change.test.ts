// fs.mkdir, fs.remove, fs.move, fs.copy.

import {
  readdirSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../kit/verifies.js';
import { startFiles } from './fs-client.js';

const reason = (name: string): object => ({ code: -32602, data: { reason: name } });

verifies('rexd/fs.mkdir/result', async () => {
  await using files = await startFiles();
  const at = (name: string): string => join(files.root, name);
  expect(await files.ask('fs.mkdir', { path: 'new' })).toEqual({ path: at('new'), created: true });
  expect(await files.refusal('fs.mkdir', { path: 'a/b/c' })).toMatchObject(reason('not_found'));
  expect(await files.ask('fs.mkdir', { path: 'a/b/c', parents: true })).toMatchObject({ created: true });
  expect(await files.ask('fs.mkdir', { path: 'a/b/c', parents: true })).toMatchObject({ created: false });
  expect(statSync(at('a/b/c')).isDirectory()).toBe(true);
  files.put('file');
  for (const parents of [true, false]) {
    expect((await files.refusal('fs.mkdir', { path: 'file', parents })).code).toBe(-32602);
    expect((await files.refusal('fs.mkdir', { path: 'file/below', parents })).code).toBe(-32602);
  }
  expect((await files.refusal('fs.mkdir', { path: '../outside/new', parents: true })).code).toBe(-32002);
});

verifies('rexd/fs.remove/result', async () => {
  await using files = await startFiles();
  const { outside } = files.rexd.grounds;
  writeFileSync(join(outside, 'kept'), 'kept');
  const path = files.put('file');
  symlinkSync(outside, join(files.root, 'link'));
  expect(await files.ask('fs.remove', { path: 'file' })).toEqual({ path, removed: 1 });
  expect(await files.ask('fs.remove', { path: 'link', recursive: true })).toMatchObject({ removed: 1 });
  expect(await files.refusal('fs.remove', { path: 'file' })).toMatchObject(reason('not_found'));
  expect(await files.ask('fs.remove', { path: 'file', missing_ok: true })).toMatchObject({ removed: 0 });
  files.put('full/a/b');
  symlinkSync(outside, join(files.root, 'full/link'));
  expect(await files.refusal('fs.remove', { path: 'full' })).toMatchObject(reason('not_empty'));
  expect(await files.ask('fs.remove', { path: 'full', recursive: true })).toMatchObject({ removed: 4 });
  expect(await files.ask('fs.remove', { path: 'sub' })).toMatchObject({ removed: 1 });
  expect(existsSync(join(files.root, 'full'))).toBe(false);
  expect(readFileSync(join(outside, 'kept'), 'utf8')).toBe('kept');
});

verifies('rexd/fs.move/result', async () => {
  await using files = await startFiles();
  const at = (name: string): string => join(files.root, name);
  files.put('a', 'a');
  expect(await files.ask('fs.move', { from: 'a', to: 'sub/b' })).toEqual({ from: at('a'), to: at('sub/b') });
  expect([existsSync(at('a')), readFileSync(at('sub/b'), 'utf8')]).toEqual([false, 'a']);
  files.put('taken', 'old');
  expect(await files.refusal('fs.move', { from: 'sub/b', to: 'taken' })).toMatchObject(
    reason('already_exists'),
  );
  expect(readFileSync(at('taken'), 'utf8')).toBe('old');
  await files.ask('fs.move', { from: 'sub/b', to: 'taken', overwrite: true });
  expect(readFileSync(at('taken'), 'utf8')).toBe('a');
  expect(await files.refusal('fs.move', { from: 'taken', to: 'no/such' })).toMatchObject(reason('not_found'));
  await files.ask('fs.move', { from: 'taken', to: 'no/such', mkdir_parents: true });
  await files.ask('fs.move', { from: 'no', to: 'folder' });
  expect(readFileSync(at('folder/such'), 'utf8')).toBe('a');
  expect((await files.refusal('fs.move', { from: 'folder', to: 'folder/inside' })).code).toBe(-32602);
  symlinkSync('folder', at('link'));
  await files.ask('fs.move', { from: 'link', to: 'moved' });
  expect(readlinkSync(at('moved'))).toBe('folder');
  expect(await files.refusal('fs.move', { from: 'nothing', to: 'x' })).toMatchObject(reason('not_found'));
  expect((await files.refusal('fs.move', { from: 'folder', to: '../outside/x' })).code).toBe(-32002);
});

verifies('rexd/fs.copy/result', async () => {
  await using files = await startFiles();
  const at = (name: string): string => join(files.root, name);
  const from = files.put('a.sh', 'a');
  chmodSync(from, 0o751);
  expect(await files.ask('fs.copy', { from: 'a.sh', to: 'b.sh' })).toEqual({
    from,
    to: at('b.sh'),
    entries: 1,
  });
  expect([readFileSync(at('b.sh'), 'utf8'), statSync(at('b.sh')).mode & 0o777]).toEqual(['a', 0o751]);
  expect(await files.refusal('fs.copy', { from: 'a.sh', to: 'b.sh' })).toMatchObject(
    reason('already_exists'),
  );
  writeFileSync(from, 'new');
  await files.ask('fs.copy', { from: 'a.sh', to: 'b.sh', overwrite: true });
  expect(readFileSync(at('b.sh'), 'utf8')).toBe('new');
  files.put('tree/x/y', 'y');
  symlinkSync('x/y', at('tree/link'));
  expect((await files.refusal('fs.copy', { from: 'tree', to: 'copy' })).code).toBe(-32602);
  expect(await files.ask('fs.copy', { from: 'tree', to: 'copy', recursive: true })).toMatchObject({
    entries: 4,
  });
  expect([readFileSync(at('copy/x/y'), 'utf8'), readlinkSync(at('copy/link'))]).toEqual(['y', 'x/y']);
  expect((await files.refusal('fs.copy', { from: 'tree', to: 'tree/in', recursive: true })).code).toBe(
    -32602,
  );
  expect((await files.refusal('fs.copy', { from: 'tree', to: 'copy', recursive: true })).code).toBe(-32602);
  await files.ask('fs.copy', { from: 'tree/x/y', to: 'made/on/the/way', mkdir_parents: true });
  expect(readFileSync(at('made/on/the/way'), 'utf8')).toBe('y');
  mkdirSync(at('empty'));
  await files.ask('fs.copy', { from: 'empty', to: 'empty too', recursive: true });
  expect(lstatSync(at('empty too')).isDirectory()).toBe(true);
  expect((await files.refusal('fs.copy', { from: '/etc/passwd', to: 'stolen' })).code).toBe(-32002);
});

verifies('rexd/fs.move/nothing-made', async () => {
  await using files = await startFiles();
  files.put('folder/a');
  for (const method of ['fs.move', 'fs.copy']) {
    for (const [from, to] of [
      ['missing', 'new/a'],
      ['folder', 'folder/new/a'],
    ]) {
      const params = { from, to, mkdir_parents: true, recursive: true };
      expect(
        await files.refusal(method, method === 'fs.move' ? { from, to, mkdir_parents: true } : params),
      ).toMatchObject({
        code: -32602,
      });
    }
  }
  expect(readdirSync(files.root, { recursive: true }).map(String).sort()).toEqual([
    'folder',
    'folder/a',
    'sub',
  ]);
});
