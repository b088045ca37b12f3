import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { JsonStore, MAX_JSON_BYTES, MAX_WAITING_UPDATES } from '../../../../src/host/store/json-store.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';
import { Programs } from './programs.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const Agents = z.object({ agents: z.array(z.object({ name: z.string() })) });

let dir: string;
let path: string;
let store: JsonStore<z.infer<typeof Agents>>;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'json-'));
  path = join(dir, 'state', 'agents.json');
  store = new JsonStore({ path, schema: Agents, initial: () => ({ agents: [] }) });
});
afterEach(() => removeFolder(dir));

const add = (name: string) => store.update(({ agents }) => ({ agents: [...agents, { name }] }));

test('there is a value before there is a file, and reading makes none', async () => {
  await expect(store.read()).resolves.toEqual({ agents: [] });
  expect(readdirSync(dir)).toEqual([]);
});

test('what was stored is there for others, in a file that is ours alone and ends with a line', async () => {
  await expect(add('ann')).resolves.toEqual({ agents: [{ name: 'ann' }] });
  expect(readFileSync(path, 'utf8')).toBe('{\n  "agents": [\n    {\n      "name": "ann"\n    }\n  ]\n}\n');
  expect(statSync(path).mode & 0o7777).toBe(0o600);
  expect(statSync(join(dir, 'state')).mode & 0o7777).toBe(0o700);
  const other = new JsonStore({ path, schema: Agents, initial: () => ({ agents: [] }) });
  await expect(other.read()).resolves.toEqual({ agents: [{ name: 'ann' }] });
  expect(readdirSync(join(dir, 'state'))).toEqual(['agents.json']);
});

test('mode and owner of a file are kept', async () => {
  await add('ann');
  chmodSync(path, 0o640);
  const group = process.getuid?.() === 0 ? 12 : statSync(path).gid;
  chownSync(path, statSync(path).uid, group);
  await add('bob');
  expect(statSync(path).mode & 0o7777).toBe(0o640);
  expect(statSync(path).gid).toBe(group);
});

// Giving a file to somebody else takes its set-id bits away, so the owner has to come first.
test.skipIf(process.getuid?.() !== 0)('every bit of the mode is kept when the owner is another', async () => {
  await add('ann');
  chownSync(path, 1, 12);
  chmodSync(path, 0o6750);
  await add('bob');
  expect(statSync(path)).toMatchObject({ uid: 1, gid: 12 });
  expect(statSync(path).mode & 0o7777).toBe(0o6750);
});

test('a change that changes nothing writes nothing', async () => {
  await add('ann');
  const before = statSync(path).ino;
  await store.update((value) => value);
  expect(statSync(path).ino).toBe(before);
});

test('a link is followed and stays a link', async () => {
  await add('ann');
  const link = join(dir, 'link.json');
  symlinkSync(path, link);
  const linked = new JsonStore({ path: link, schema: Agents, initial: () => ({ agents: [] }) });
  await linked.update(() => ({ agents: [] }));
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  await expect(store.read()).resolves.toEqual({ agents: [] });
});

test.each([
  ['{\n  "agents": [\n    { "name": "ann" },\n  ]\n}\n', 'line 4, column 3: is not JSON from here on'],
  ['{"agents": [', 'line 1, column 13: the JSON ends too early'],
  ['', 'line 1, column 1: the JSON ends too early'],
  ['{"agents": [{"name": 5}]}', 'agents[0].name: expected string, got number'],
  ['null', 'expected object, got null'],
  [Buffer.from([0x22, 0xff, 0x22]), 'is not UTF-8 text'],
])('a file that holds %j is refused by name and place, and left as it is', async (content, message) => {
  await add('ann');
  writeFileSync(path, content);
  const refusal = { code: 'store_corrupt', message: expect.stringContaining(message), facts: { path } };
  await expect(store.read()).rejects.toMatchObject(refusal);
  await expect(add('bob')).rejects.toMatchObject(refusal);
  expect(readFileSync(path)).toEqual(Buffer.from(content));
});

test('the mark that some editors put in front is no harm', async () => {
  await add('ann');
  writeFileSync(path, `\ufeff${readFileSync(path, 'utf8')}`);
  await expect(store.read()).resolves.toEqual({ agents: [{ name: 'ann' }] });
});

test('a directory in the place of the file is refused', async () => {
  const odd = new JsonStore({ path: dir, schema: Agents, initial: () => ({ agents: [] }) });
  await expect(odd.read()).rejects.toMatchObject({ code: 'store_corrupt' });
});

test('a value that does not fit the schema is not written', async () => {
  await add('ann');
  const bad = { agents: [{ name: 7 }] } as unknown as z.infer<typeof Agents>;
  await expect(store.update(() => bad)).rejects.toMatchObject({ code: 'store_corrupt' });
  await expect(store.read()).resolves.toEqual({ agents: [{ name: 'ann' }] });
});

test('a change that fails leaves the value and gives up the lock', async () => {
  await add('ann');
  await expect(store.update(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(add('bob')).resolves.toEqual({ agents: [{ name: 'ann' }, { name: 'bob' }] });
});

test('size is limited, both ways', async () => {
  const small = new JsonStore({ path, schema: Agents, initial: () => ({ agents: [] }), maxBytes: 100 });
  await expect(small.update(() => ({ agents: [{ name: 'x'.repeat(100) }] }))).rejects.toMatchObject({
    code: 'store_too_large',
  });
  expect(readdirSync(join(dir, 'state'))).toEqual([]);
  writeFileSync(path, ' '.repeat(MAX_JSON_BYTES + 1));
  await expect(store.read()).rejects.toMatchObject({
    code: 'store_too_large',
    facts: { limit: MAX_JSON_BYTES },
  });
});

test('changes of one process happen in order', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `agent ${i}`);
  await Promise.all(names.map(add));
  expect((await store.read()).agents.map(({ name }) => name)).toEqual(names);
});

test('only so many changes wait, and waiting can be given up', async () => {
  let release: (() => void) | undefined;
  const first = store.update(
    (value) =>
      new Promise((resolve) => {
        release = () => resolve(value);
      }),
  );
  const callers = Array.from({ length: MAX_WAITING_UPDATES }, () => new AbortController());
  const waiting = callers.map(({ signal }) => store.update((value) => value, { signal }));
  await expect(add('late')).rejects.toMatchObject({ code: 'lane_full' });
  for (const caller of callers) caller.abort(new Error('the caller left'));
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  (await until(() => release, 'the first to have begun'))();
  await first;
});

test('what a killed writer left is removed by the next', async () => {
  await add('ann');
  writeFileSync(join(dir, 'state', '.agents.json.new-t_left'), '{"agents"');
  const next = new JsonStore({ path, schema: Agents, initial: () => ({ agents: [] }) });
  await next.update(() => ({ agents: [] }));
  expect(readdirSync(join(dir, 'state'))).toEqual(['agents.json']);
});

test('eight processes lose no update', async () => {
  using programs = new Programs('counter');
  const running = Array.from({ length: 8 }, () => programs.start(path, '50'));
  const codes = await Promise.all(running.map(({ ended }) => ended));
  expect(codes).toEqual(Array.from({ length: 8 }, () => 0));
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ count: 400 });
  const counts = running.flatMap(({ lines }) => lines.slice(1).map(Number)).sort((a, b) => a - b);
  expect(counts).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
});

test('writers killed at any moment leave the last count they announced, or the one after', async () => {
  using programs = new Programs('counter');
  for (let round = 0; round < runs(15, 6); round++) {
    const running = programs.start(path, '100000');
    await until(() => running.lines.length > 1 + (round % 5), 'some counts');
    await running.kill();
    const announced = Number(running.lines.at(-1));
    const { count } = JSON.parse(readFileSync(path, 'utf8')) as { count: number };
    expect([announced, announced + 1]).toContain(count);
  }
});
