// REXD v1: fs.write.

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';
import { startFiles } from './fs-client.js';

verifies('rexd/fs.write/result', async () => {
  await using files = await startFiles();
  const path = join(files.root, 'a.txt');
  const first = await files.ask('fs.write', { path, content: 'h\u00E9\n' });
  expect(first).toEqual({ path, bytes_written: 4, mtime: Math.floor(statSync(path).mtimeMs), created: true });
  expect(await files.ask('fs.write', { path, content: '' })).toMatchObject({
    bytes_written: 0,
    created: false,
  });
  expect(readFileSync(path, 'utf8')).toBe('');
});

verifies('rexd/fs.write/params', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'old');
  for (const wrong of [
    { content: 'x', mode: 'overwrite' },
    { content: 'x', encoding: 'latin1' },
    { content: 'a*b=', encoding: 'base64' },
    { content: 'abcde', encoding: 'base64' },
    {},
    { content: 5 },
    { content: 'x', expected_mtime: 'yesterday' },
  ]) {
    expect((await files.refusal('fs.write', { path, ...wrong })).code).toBe(-32602);
  }
  expect(readFileSync(path, 'utf8')).toBe('old');
});

verifies('rexd/fs.write/base64', async () => {
  await using files = await startFiles();
  const path = join(files.root, 'a.bin');
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  const content = bytes.toString('base64').replaceAll(/(.{76})/g, '$1\n');
  expect(await files.ask('fs.write', { path, content, encoding: 'base64' })).toMatchObject({
    bytes_written: 256,
  });
  expect(readFileSync(path).equals(bytes)).toBe(true);
});

verifies('rexd/fs.write/create', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'old');
  symlinkSync('nowhere', join(files.root, 'link'));
  mkdirSync(join(files.root, 'folder'));
  for (const atomic of [true, false]) {
    for (const taken of [path, join(files.root, 'link'), join(files.root, 'folder')]) {
      const params = { path: taken, content: 'new', mode: 'create', atomic };
      expect(await files.refusal('fs.write', params)).toMatchObject({
        code: -32602,
        data: { reason: 'already_exists', path: taken },
      });
    }
    const fresh = join(files.root, `fresh-${atomic}`);
    expect(
      await files.ask('fs.write', { path: fresh, content: 'new', mode: 'create', atomic }),
    ).toMatchObject({ created: true });
  }
  expect(readFileSync(path, 'utf8')).toBe('old');
});

verifies('rexd/fs.write/append', async () => {
  await using files = await startFiles();
  const path = join(files.root, 'a.log');
  const append = (content: string): Promise<unknown> =>
    files.ask('fs.write', { path, content, mode: 'append' });
  expect(await append('one\n')).toMatchObject({ created: true, bytes_written: 4 });
  expect(await append('two\n')).toMatchObject({ created: false, bytes_written: 4 });
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
});

verifies('rexd/fs.write/in-turn', async () => {
  await using client = await ExecClient.open();
  const log = join(client.root, 'a.log');
  const file = join(client.root, 'b.txt');
  const numbers = Array.from({ length: 40 }, (_, i) => i);
  // Long ones first: out of turn the short ones would be done before.
  const content = (i: number): string => `${i}${'.'.repeat(40_000 - i * 1000)}\n`;
  await Promise.all([
    ...numbers.map((i) => client.ask('fs.write', { path: log, content: content(i), mode: 'append' })),
    ...numbers.map((i) => client.ask('fs.write', { path: file, content: content(i) })),
  ]);
  expect(readFileSync(log, 'utf8')).toBe(numbers.map(content).join(''));
  expect(readFileSync(file, 'utf8')).toBe(content(39));
});

verifies('rexd/fs.write/mkdir-parents', async () => {
  await using files = await startFiles();
  const path = join(files.root, 'deep/er/a.txt');
  expect(await files.refusal('fs.write', { path, content: 'x' })).toMatchObject({
    code: -32602,
    data: { reason: 'not_found' },
  });
  await files.ask('fs.write', { path, content: 'x', mkdir_parents: true });
  expect(readFileSync(path, 'utf8')).toBe('x');
});

verifies('rexd/fs.write/atomic', async () => {
  await using files = await startFiles();
  const path = files.put('run.sh', 'old');
  chmodSync(path, 0o751);
  const link = join(files.root, 'link');
  symlinkSync('run.sh', link);
  await files.ask('fs.write', { path: link, content: 'new' });
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o751);
  expect(readlinkSync(link)).toBe('run.sh');
  const before = statSync(path).ino;
  await files.ask('fs.write', { path, content: 'in place', atomic: false });
  expect(statSync(path).ino).toBe(before);
  const long = join(files.root, 'n'.repeat(255));
  await files.ask('fs.write', { path: long, content: 'x' });
  await files.refusal('fs.write', { path: join(files.root, 'sub'), content: 'x' });
  expect(readdirSync(files.root).sort()).toEqual(['link', 'n'.repeat(255), 'run.sh', 'sub']);
  expect(lstatSync(long).isFile()).toBe(true);
});

verifies('rexd/fs.write/expected-mtime', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'one');
  const { mtime } = await files.ask('fs.stat', { path });
  const write = { path, content: 'mine', expected_mtime: mtime };
  const theirs = await files.ask('fs.write', { path, content: 'theirs' });
  for (const params of [write, { ...write, atomic: false }, { ...write, mode: 'append' }]) {
    expect(await files.refusal('fs.write', params)).toMatchObject({
      code: -32006,
      data: { path, current: { mtime: theirs['mtime'], size: 6 } },
    });
  }
  expect(readFileSync(path, 'utf8')).toBe('theirs');
  await files.ask('fs.write', { ...write, expected_mtime: theirs['mtime'] });
  expect(readFileSync(path, 'utf8')).toBe('mine');
  const gone = { path: join(files.root, 'gone.txt'), content: 'x', expected_mtime: 5 };
  expect(await files.refusal('fs.write', gone)).toMatchObject({ code: -32006, data: { current: null } });
  expect(readdirSync(files.root)).not.toContain('gone.txt');
});

verifies('rexd/fs.write/quick-writes', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'one');
  const times = [(await files.ask('fs.stat', { path }))['mtime']];
  for (let i = 0; i < 30; i++) {
    const options = i % 3 === 0 ? { atomic: false } : i % 3 === 1 ? { mode: 'append' } : {};
    times.push((await files.ask('fs.write', { path, content: `${i}`, ...options }))['mtime']);
  }
  expect(new Set(times).size).toBe(31);
});

verifies('rexd/example/write-file', async () => {
  await using files = await startFiles();
  const path = join(files.root, 'README.md');
  const answer = await files.rexd.exchange(
    `{"jsonrpc":"2.0","id":4,"method":"fs.write","params":{"session_id":"${files.session}","path":${JSON.stringify(path)},"content":"# Hello\\n","encoding":"utf8","mode":"replace","atomic":true}}`,
  );
  expect(answer).toMatchObject({ id: 4, result: { path, bytes_written: 8, created: true } });
  expect(readFileSync(path, 'utf8')).toBe('# Hello\n');
});
