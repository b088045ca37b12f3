// What clients use beside REXD v1: fs.patch and fs.edit.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Answer } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';
import { type FilesUnderTest, startFiles } from './fs-client.js';

verifies('rexd/fs.patch/result', async () => {
  await using files = await startFiles();
  const [b, c, d] = [
    files.put('b.txt', 'b\n'),
    files.put('c.txt', 'one\ntwo\n'),
    files.put('d.txt', 'd\nd2\n'),
  ];
  const { result } = await patch(
    files,
    '*** Add File: new/a.txt',
    '+hello',
    '+',
    '+world',
    '*** Delete File: b.txt',
    '*** Update File: c.txt',
    '@@ one',
    '-two',
    '+2',
    '*** Update File: d.txt',
    '*** Move to: sub/e.txt',
    '-d',
    '+e',
  );
  const [a, e] = [join(files.root, 'new/a.txt'), join(files.root, 'sub/e.txt')];
  expect(result).toEqual({ added: [a], updated: [c], deleted: [b], moved: [{ from: d, to: e }] });
  expect(readFileSync(a, 'utf8')).toBe('hello\n\nworld\n');
  expect(readFileSync(c, 'utf8')).toBe('one\n2\n');
  expect(readFileSync(e, 'utf8')).toBe('e\nd2\n');
  expect([existsSync(b), existsSync(d)]).toEqual([false, false]);
  expect(readdirSync(files.root).sort()).toEqual(['c.txt', 'new', 'sub']);
  const again = await files.ask('fs.patch', {
    patch_text: '*** Begin Patch\n*** Delete File: e.txt\n*** End Patch',
    cwd: 'sub',
  });
  expect(again).toEqual({ added: [], updated: [], deleted: [e] });
  const rewritten = await patch(files, '*** Delete File: c.txt', '*** Add File: c.txt', '+afresh');
  expect(rewritten.error).toBeUndefined();
  expect(readFileSync(c, 'utf8')).toBe('afresh\n');
});

verifies('rexd/fs.patch/all-or-nothing', async () => {
  await using files = await startFiles();
  for (const name of ['a.txt', 'gone.txt', 'from.txt']) files.put(name, `${name}\n`);
  const read = files.put('locked/b.txt', 'b\n');
  const before = snapshot(files);
  const good = [
    '*** Add File: new/deep/n.txt',
    '+n',
    '*** Update File: a.txt',
    '-a.txt',
    '+A',
    '*** Delete File: gone.txt',
    '*** Update File: from.txt',
    '*** Move to: to.txt',
    '-from.txt',
    '+x',
  ];
  for (const bad of [
    ['*** Update File: none.txt', '-x'],
    ['*** Update File: a.txt', '-not there'],
    ['*** Delete File: none.txt'],
    ['*** Add File: from.txt/x', '+x'],
    ['*** Add File: sub', '+x'],
    ['*** Add File: ../outside/x', '+x'],
  ]) {
    expect((await patch(files, ...good, ...bad)).error, bad[0]).toBeDefined();
    expect((await patch(files, ...bad, ...good)).error, bad[0]).toBeDefined();
    expect(snapshot(files), bad[0]).toEqual(before);
  }
  // One that only shows itself when the files are written: a name too long, seen by nobody before.
  const late = `*** Add File: ${'n'.repeat(256)}`;
  expect((await patch(files, ...good, late, '+x')).error).toMatchObject({ code: -32602 });
  expect(snapshot(files)).toEqual(before);
  expect(readFileSync(read, 'utf8')).toBe('b\n');
  expect((await patch(files, ...good)).error).toBeUndefined();
});

verifies('rexd/fs.patch/keeps', async () => {
  await using files = await startFiles();
  const script = files.put('run.sh', '#!/bin/sh\r\nold\r\nend');
  chmodSync(script, 0o755);
  await patch(files, '*** Update File: run.sh', '-old', '+new', '+newer');
  expect(readFileSync(script, 'utf8')).toBe('#!/bin/sh\r\nnew\r\nnewer\r\nend');
  expect(statSync(script).mode & 0o777).toBe(0o755);
  await patch(files, '*** Update File: run.sh', '*** Move to: go.sh', '-new', '+NEW');
  expect(statSync(join(files.root, 'go.sh')).mode & 0o777).toBe(0o755);
  symlinkSync('go.sh', join(files.root, 'link'));
  await patch(files, '*** Update File: link', '-NEW', '+through');
  expect(lstatSync(join(files.root, 'link')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(files.root, 'go.sh'), 'utf8')).toContain('through');
  await patch(files, '*** Delete File: link');
  expect(readdirSync(files.root).sort()).toEqual(['go.sh', 'sub']);
});

verifies('rexd/fs.patch/clear', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'x\nf\nx\ng\nx\n');
  expect((await patch(files, '*** Update File: a.txt', '-x', '+y')).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('several places'),
    data: { path, hunk: 1, lines: [1, 3, 5] },
  });
  expect((await patch(files, '*** Update File: a.txt', '-z', '+y')).error).toMatchObject({ code: -32602 });
  expect((await patch(files, '*** Update File: a.txt', '@@', '+y')).error).toMatchObject({ code: -32602 });
  expect((await patch(files, '*** Update File: a.txt')).error).toMatchObject({ code: -32602 });
  expect((await files.refusal('fs.patch', { patch_text: 'no patch' })).code).toBe(-32602);
  await patch(files, '*** Update File: a.txt', '@@ f', '+inserted', '@@', '-x', '+last', '*** End of File');
  expect(readFileSync(path, 'utf8')).toBe('x\nf\ninserted\nx\ng\nlast\n');
});

verifies('rexd/fs.patch/taken-names', async () => {
  await using files = await startFiles();
  const [a, b] = [files.put('a.txt', 'a\n'), files.put('b.txt', 'b\n')];
  mkdirSync(join(files.root, 'empty'));
  for (const lines of [
    ['*** Add File: a.txt', '+x'],
    ['*** Add File: empty', '+x'],
    ['*** Update File: a.txt', '*** Move to: b.txt', '-a', '+x'],
    ['*** Delete File: empty'],
    ['*** Delete File: .'],
  ]) {
    expect((await patch(files, ...lines)).error, lines.join()).toMatchObject({ code: expect.any(Number) });
  }
  expect([readFileSync(a, 'utf8'), readFileSync(b, 'utf8')]).toEqual(['a\n', 'b\n']);
  expect(existsSync(join(files.root, 'empty'))).toBe(true);
});

verifies('rexd/fs.edit/result', async () => {
  await using files = await startFiles();
  const path = files.put('a.bin', Buffer.from('a\xFFold\r\nb old', 'latin1'));
  chmodSync(path, 0o700);
  const edit = { path, old_string: 'old', new_string: '$&', replace_all: true };
  expect(await files.ask('fs.edit', edit)).toMatchObject({ path, replacements: 2, created: false });
  expect(readFileSync(path, 'latin1')).toBe('a\xFF$&\r\nb $&');
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const fresh = join(files.root, 'x/y.txt');
  expect(await files.ask('fs.edit', { path: fresh, old_string: '', new_string: 'new' })).toMatchObject({
    created: true,
  });
  expect(readFileSync(fresh, 'utf8')).toBe('new');
});

verifies('rexd/fs.edit/refused', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'one two one');
  for (const [old_string, new_string, message] of [
    ['three', 'x', /not found/],
    ['one', 'x', /multiple locations/],
    ['one', 'one', /identical/],
  ] as const) {
    expect(await files.refusal('fs.edit', { path, old_string, new_string })).toMatchObject({
      code: -32602,
      message: expect.stringMatching(message),
    });
  }
  const missing = { path: join(files.root, 'none'), old_string: 'a', new_string: 'b' };
  expect(await files.refusal('fs.edit', missing)).toMatchObject({
    code: -32602,
    data: { reason: 'not_found' },
  });
  utimesSync(path, 1, 1);
  const stale = { path, old_string: 'two', new_string: '2', expected_mtime: 5 };
  expect(await files.refusal('fs.edit', stale)).toMatchObject({
    code: -32006,
    data: { current: { mtime: 1000 } },
  });
  expect(readFileSync(path, 'utf8')).toBe('one two one');
});

async function patch(files: FilesUnderTest, ...lines: string[]): Promise<Answer> {
  return await files.call('fs.patch', {
    patch_text: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
  });
}

/** Every file with its content. */
function snapshot(files: FilesUnderTest): Record<string, string> {
  const all = readdirSync(files.root, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    all.map((name) => {
      const path = join(files.root, name);
      return [name, statSync(path).isDirectory() ? '/' : readFileSync(path, 'utf8')];
    }),
  );
}
