// Topics that outlive the daemon, and the caps on them.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLog } from '../../../src/base/log.js';
import { MAX_SESSION_FILE_BYTES, SessionStore } from '../../../src/string/session/session-store.js';
import { MAX_SAVED_SEEN_FILES, SeenFiles } from '../../../src/string/session/seen-files.js';
import { MAX_TOPICS, Sessions, TooManyTopicsError } from '../../../src/string/session/sessions.js';
import { makePlace, topicOf } from './place.js';

test('document, variables, history and folder are there after a restart', async () => {
  await using place = makePlace();
  for (const name of ['a.md', 'b.md'])
    writeFileSync(join(place.home, name), `---\ntitle: ${name}\n---\n${name}`);
  mkdirSync(join(place.home, 'dir'));
  await place.run('main', '/open a.md');
  await place.run('main', '/open b.md');
  await place.run('main', '/set {city} = "Seoul"');
  await place.run('web:docs', '/open dir');
  await place.run('app:x:y', '/set {n} = 1');
  place.runtime.open(topicOf('empty'));
  await place.run('system', '/status');
  const before = place.runtime.topics().filter(({ topic_type }) => topic_type !== 'hub');
  await place.restart();
  const byName = (a: { topic: string }, b: { topic: string }): number => (a.topic < b.topic ? -1 : 1);
  expect(place.runtime.topics().toSorted(byName)).toEqual(before.toSorted(byName));
  expect(await place.run('main', '/set')).toMatchObject({
    content: 'Variables\n---\n{city} = "Seoul"',
    meta: { title: 'b.md', history_length: 1 },
  });
  expect((await place.run('main', '/back')).content).toContain('a.md');
  expect((await place.run('web:docs', '/info')).content).toContain('cwd:       ~/dir/');
});

test('what was closed stays closed, and what was acknowledged is on disk before the answer', async () => {
  await using place = makePlace();
  await place.run('a', '/set x = 1');
  await place.run('b', '/set x = 1');
  const folder = join(place.dataDir, 'sessions/default');
  expect(JSON.parse(readFileSync(join(folder, 'a.json'), 'utf8'))).toMatchObject({
    topic: 'a',
    variables: { x: '1' },
  });
  expect(statSync(join(folder, 'a.json')).mode & 0o777).toBe(0o600);
  await place.run('a', '/close');
  expect(readdirSync(folder)).toEqual(['b.json']);
  await place.restart();
  expect(place.runtime.topics().map(({ topic }) => topic)).toEqual(['b']);
  await place.runtime.discard();
  await place.restart();
  expect(place.runtime.topics()).toEqual([]);
});

test('a file that was read before a restart may be overwritten as long as nobody has changed it', async () => {
  await using place = makePlace();
  for (const name of ['a.md', 'b.md']) {
    writeFileSync(join(place.home, name), 'old');
    await place.run('main', `/open ${name}`);
  }
  await place.restart();
  writeFileSync(join(place.home, 'b.md'), 'somebody else');
  expect(await place.run('main', '/write a.md\nnew')).toMatchObject({ ok: true });
  expect(await place.run('main', '/write b.md\nnew')).toMatchObject({ code: 'CONFLICT' });
  await place.restart();
  expect(await place.run('main', '/write a.md\nnewer')).toMatchObject({ ok: true });
  expect(await place.run('other', '/write a.md\nmine')).toMatchObject({ code: 'CONFLICT' });
});

test('of the files that were read the last MAX_SAVED_SEEN_FILES are written down', () => {
  const seen = new SeenFiles();
  for (let at = 0; at <= MAX_SAVED_SEEN_FILES; at++) seen.note(`/f${at}`, { mtimeMs: at, size: 1 });
  expect(seen.state).toHaveLength(MAX_SAVED_SEEN_FILES);
  const again = new SeenFiles(() => {}, seen.state);
  expect(again.compare('/f0', { mtimeMs: 0, size: 1 })).toBe('never');
  expect(again.compare('/f1', { mtimeMs: 1, size: 1 })).toBe('same');
});

test('a shell is not claimed to run after a restart; its topic and variables are there', async () => {
  await using place = makePlace();
  await place.run('bash:dev', '//set {who} = me');
  await place.run('bash:dev', 'cd /; true');
  await place.restart();
  expect((await place.run('main', '/topics')).content).toContain('bash:dev  bash  (no shell)');
  const { content } = await place.run('bash:dev', '//info');
  expect(content).toContain('pid: none');
  expect(content).toContain('{who}="me"');
  expect(await place.run('bash:dev', 'echo $who')).toMatchObject({
    content: `exit: 0 | cwd: ${place.home}\n---\nme`,
  });
});

test('files that make no sense are passed by, and left where they are', async () => {
  await using place = makePlace();
  await place.run('good', '/set x = 1');
  const folder = join(place.dataDir, 'sessions/default');
  writeFileSync(join(folder, 'torn.json'), '{"topic":"to');
  writeFileSync(join(folder, 'odd.json'), '{"topic":"../x","history":[],"variables":{}}');
  writeFileSync(join(folder, 'large.json'), Buffer.alloc(MAX_SESSION_FILE_BYTES + 1, ' '));
  writeFileSync(join(folder, 'half.json.new'), '');
  await place.restart();
  expect(place.runtime.topics().map(({ topic }) => topic)).toEqual(['good']);
  expect(readdirSync(folder)).toContain('torn.json');
});

test('MAX_TOPICS and no more', async () => {
  await using place = makePlace();
  class Nowhere extends SessionStore {
    override save(): undefined {}
    override remove(): void {}
  }
  const sessions = new Sessions(new Nowhere(place.dataDir, openLog({ name: 'test', level: 'silent' })));
  for (let i = 0; i < MAX_TOPICS; i++) sessions.ensure({ type: 'tab', name: `t${i}` });
  expect(() => sessions.ensure({ type: 'tab', name: 'one-more' })).toThrow(TooManyTopicsError);
  sessions.delete({ type: 'tab', name: 't0' });
  expect(sessions.ensure({ type: 'tab', name: 'one-more' }).created).toBe(true);
});

test('a runtime that is closed runs nothing', async () => {
  await using place = makePlace();
  await place.runtime.close();
  expect(await place.run('main', '/info')).toMatchObject({ ok: false, code: 'INTERNAL_ERROR' });
});

test('what cannot be written down is acknowledged with a warning, and written when it can be again', async () => {
  await using place = makePlace();
  mkdirSync(place.dataDir, { recursive: true });
  const inTheWay = join(place.dataDir, 'sessions');
  writeFileSync(inTheWay, '');
  expect(await place.run('main', '/set x = 1')).toMatchObject({
    ok: true,
    content: expect.stringMatching(
      /Warning: this topic could not be saved and is lost when the daemon ends: E/,
    ),
  });
  rmSync(inTheWay);
  expect((await place.run('main', '/set')).content).not.toContain('Warning');
  await place.restart();
  expect((await place.run('main', '/set')).content).toContain('x');
});
