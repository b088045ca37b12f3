// Files, patterns and edits made to cost much: the server lives, and others do not wait for them.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Answer } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';
import { type FilesUnderTest, startFiles } from './fs-client.js';

const LONG_MS = 300_000;

verifies(
  'rexd/hostile/edit-places',
  async () => {
    await using files = await startFiles();
    const path = files.put('a', Buffer.alloc(60_000_000, 'a'));
    const edit = { path, old_string: 'a', replace_all: true };
    expect(await files.refusal('fs.edit', { ...edit, new_string: 'bb' })).toMatchObject({
      code: -32008,
      data: { path, limit: 64 * 1024 * 1024 },
    });
    files.put('a', Buffer.alloc(20_000_000, 'a'));
    expect(await files.ask('fs.edit', { ...edit, new_string: 'b' })).toMatchObject({
      replacements: 20_000_000,
    });
    expect(readFileSync(path).equals(Buffer.alloc(20_000_000, 'b'))).toBe(true);
  },
  LONG_MS,
);

verifies('rexd/hostile/edit-text', async () => {
  await using files = await startFiles();
  files.put('a', Buffer.alloc(8_000_000, 'a'));
  const old_string = `${'a'.repeat(8000)}b${'a'.repeat(8000)}`;
  const answer = await meanwhile(files, 'fs.edit', { path: 'a', old_string, new_string: 'x' });
  expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('not found') });
});

verifies('rexd/hostile/search-text', async () => {
  await using files = await startFiles();
  files.put('a', Buffer.alloc(15_000_000, 'a'));
  const query = `${'a'.repeat(2048)}b${'a'.repeat(2047)}`;
  const answer = await meanwhile(files, 'fs.search', { query });
  expect(answer.result).toMatchObject({ matches: [], truncated: false });
  const ended = await files.ask('fs.search', { query, timeout_ms: 1 });
  expect(ended).toMatchObject({ truncated: true, truncated_by: 'time' });
});

verifies(
  'rexd/hostile/patch-lines',
  async () => {
    await using files = await startFiles();
    const text = ['*** Begin Patch', '*** Update File: a', '-x', '+y', '*** End Patch'];
    const path = files.put('a', Buffer.alloc(60_000_000, '\n'));
    expect(await files.refusal('fs.patch', { patch_text: text.join('\n') })).toMatchObject({ code: -32008 });
    files.put('a', `${'\n'.repeat(4_000_000)}x\n`);
    const answer = await meanwhile(files, 'fs.patch', { patch_text: text.join('\n') });
    expect(answer.result).toMatchObject({ updated: [path] });
    expect(readFileSync(path, 'latin1')).toBe(`${'\n'.repeat(4_000_000)}y\n`);
    const long = text.toSpliced(2, 0, '\n'.repeat(5_000_000)).join('\n');
    expect(await files.refusal('fs.patch', { patch_text: long })).toMatchObject({ code: -32008 });
  },
  LONG_MS,
);

verifies('rexd/fs.edit/pipelined', async () => {
  await using files = await startFiles();
  const path = files.put('a', 'one\ntwo\nthree\nfour\n');
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  const edit = (old_string: string, more: object = {}): object => ({
    path,
    old_string,
    new_string: old_string.toUpperCase(),
    ...more,
  });
  const patch_text = ['*** Begin Patch', '*** Update File: a', '-four', '+FOUR', '*** End Patch'].join('\n');
  const answers = await together(files, [
    ['fs.edit', edit('one')],
    ['fs.edit', edit('two')],
    ['fs.patch', { patch_text }],
    ['fs.edit', edit('three')],
    ['fs.edit', edit('TWO', { new_string: '2', expected_sha256: sha256 })],
  ]);
  expect(answers.map(({ error }) => error?.code)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    -32006,
  ]);
  expect(readFileSync(path, 'utf8')).toBe('ONE\nTWO\nTHREE\nFOUR\n');
});

verifies('rexd/hostile/gitignore', async () => {
  await using files = await startFiles();
  files.put('.gitignore', `/**/*${'a'.repeat(125)}b\n`.repeat(1900));
  for (let i = 0; i < 40; i++) files.put(`${'a'.repeat(240)}${i}`, 'x');
  for (const [method, params] of [
    ['fs.list', { path: '.', recursive: true, gitignore: true }],
    ['fs.glob', { pattern: '**', gitignore: true }],
    ['fs.search', { query: 'x' }],
  ] as const) {
    expect((await meanwhile(files, method, params)).result, method).toMatchObject({ truncated: true });
  }
});

verifies('rexd/hostile/glob', async () => {
  await using files = await startFiles();
  for (let i = 0; i < 40; i++) files.put(`${'a'.repeat(245)}${i}`, 'x');
  const huge = `*${'[a]'.repeat(110)}${'{b,c}'.repeat(9)}*`;
  expect(await files.refusal('fs.glob', { pattern: huge })).toMatchObject({ code: -32602 });
  expect(await files.refusal('fs.search', { query: 'x', include: [huge] })).toMatchObject({ code: -32602 });
  const costly = `*${'[a]'.repeat(60)}{b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z}*`;
  expect((await meanwhile(files, 'fs.glob', { pattern: costly })).result).toMatchObject({ matches: [] });
  const search = await meanwhile(files, 'fs.search', { query: 'x', include: [costly] });
  expect(search.result).toMatchObject({ matches: [] });
});

verifies('rexd/hostile/deep-path', async () => {
  await using files = await startFiles();
  const path = join(files.root, 'd/'.repeat(900));
  mkdirSync(path, { recursive: true });
  expect((await meanwhile(files, 'fs.list', { path, gitignore: true })).result).toMatchObject({
    entries: [],
  });
});

/** Answers in the order of the calls, which are sent at once. */
async function together(files: FilesUnderTest, calls: readonly [string, object][]): Promise<Answer[]> {
  const { rexd, session: session_id } = files;
  const lines = calls.map(([method, params], id) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params: { session_id, ...params } }),
  );
  rexd.write(`${lines.join('\n')}\n`);
  const answers: Answer[] = [];
  for (const _ of calls) answers.push(await rexd.answer());
  return answers.sort((a, b) => Number(a.id) - Number(b.id));
}

/** The answer of a call that takes long; a request sent right behind it is to be answered before. */
async function meanwhile(files: FilesUnderTest, method: string, params: object): Promise<Answer> {
  const { rexd, session: session_id } = files;
  const line = (id: string, name: string, given: object): string =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method: name, params: { session_id, ...given } })}\n`;
  rexd.write(line('long', method, params) + line('short', 'session.info', {}));
  const [first, second] = [await rexd.answer(), await rexd.answer()];
  expect([first.id, second.id], 'in which order they were answered').toEqual(['short', 'long']);
  return second;
}
