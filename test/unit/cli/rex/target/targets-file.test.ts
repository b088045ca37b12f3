// The shared list of targets, the project's file, and the choice made from all that is written down.

import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  carryTarget,
  chooseTarget,
  forgetTarget,
  MAX_PREFIXES,
  readPrefixes,
  setPrefix,
} from '../../../../../src/cli/rex/target/choose-target.js';
import { lineOfJson } from '../../../../../src/cli/rex/target/json-line.js';
import { targetPlaces } from '../../../../../src/cli/rex/target/places.js';
import {
  findProject,
  MAX_PROJECT_BYTES,
  PROJECT_FILE,
  writeProject,
} from '../../../../../src/cli/rex/target/project-file.js';
import {
  changeTarget,
  checkTarget,
  MAX_TARGETS,
  readTargets,
} from '../../../../../src/cli/rex/target/targets-file.js';
import { runs } from '../../../../helpers/runs.js';

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'targets-'));
  file = join(folder, 'config/rexd/targets.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const WEB = { transport: 'ssh', host: 'web.example', workspaceRoots: ['/srv'], defaultCwd: '/srv' };

async function put(value: unknown): Promise<void> {
  await mkdir(join(folder, 'config/rexd'), { recursive: true });
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value, undefined, 2));
}

describe('the list', () => {
  test('that is not there is empty, and comes with its first target, private', async () => {
    expect(await readTargets(file)).toEqual({ file, targets: {}, problems: {} });
    await changeTarget(file, 'web', () => WEB);
    expect((await readTargets(file)).targets['web']).toMatchObject(WEB);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ version: 1, targets: { web: WEB } });
    expect(await readdir(join(folder, 'config/rexd'))).toEqual(['targets.json']);
  });

  test('keeps what other clients have written: in the file, in other targets, in the changed one', async () => {
    const before = {
      version: 1,
      theirs: { a: 1 },
      targets: {
        other: { host: 'x', odd: true },
        web: { ...WEB, homeDir: '/home/me', rootPolicy: { mode: 'strict' } },
      },
    };
    await put(before);
    await changeTarget(file, 'web', (entry) => ({ ...entry, host: 'new' }));
    const after: unknown = JSON.parse(await readFile(file, 'utf8'));
    expect(after).toEqual({
      ...before,
      targets: { ...before.targets, web: { ...before.targets.web, host: 'new' } },
    });
    await changeTarget(file, 'web', () => undefined);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      ...before,
      targets: { other: before.targets.other },
    });
  });

  test('loses no entry to two writers at once', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `t${i}`);
    await Promise.all(names.map((name) => changeTarget(file, name, () => WEB)));
    expect(Object.keys((await readTargets(file)).targets).sort()).toEqual(names.sort());
  });

  test('with one bad entry still serves the others, and tells field, file and line of the bad one', async () => {
    await put({
      targets: { ok: WEB, bad: { host: 'x', port: 'many' }, docker: { transport: 'docker', host: 'x' } },
    });
    const { targets, problems } = await readTargets(file);
    expect(Object.keys(targets)).toEqual(['ok']);
    expect(problems['bad']).toBe(`${file}, line 13: targets.bad.port: expected number, got string`);
    expect(problems['docker']).toContain('targets.docker.transport: expected "ssh"');
  });

  test.each([
    ['{"targets": {\n "a" }', 'line 2, column 6: is not JSON from here on'],
    ['{"version": 2, "targets": {}}', 'line 1: version: expected 1, got 2'],
    ['{\n"targets": []}', 'line 2: targets: expected an object'],
  ])('that is broken says where: %j', async (text, said) => {
    await put(text);
    await expect(readTargets(file)).rejects.toThrow(said);
  });

  test('refuses names that are none, and this machine', async () => {
    for (const name of ['local', '', 'a b', '-x', '__proto__', 'a:b'])
      await expect(
        changeTarget(file, name, () => WEB),
        name,
      ).rejects.toThrow(/no name for a target|is this machine/);
    await put({ targets: { local: WEB, 'a b': WEB } });
    expect(Object.keys((await readTargets(file)).problems)).toEqual(['local', 'a b']);
  });

  test('takes MAX_TARGETS and no more', async () => {
    await put({ targets: Object.fromEntries(Array.from({ length: MAX_TARGETS }, (_, i) => [`t${i}`, WEB])) });
    await expect(changeTarget(file, 'more', () => WEB)).rejects.toThrow(`more than ${MAX_TARGETS} targets`);
    await changeTarget(file, 't0', () => ({ ...WEB, host: 'again' }));
  });

  test('that everybody may write is refused: its ssh options run programs here', async () => {
    await put({ targets: { web: WEB } });
    await chmod(file, 0o666);
    await expect(readTargets(file)).rejects.toThrow(`chmod 600 ${file}`);
  });

  test('behind a link stays behind the link', async () => {
    await put({ targets: {} });
    const real = join(folder, 'real.json');
    await writeFile(real, '{"targets": {}}');
    await rm(file);
    await symlink(real, file);
    await changeTarget(file, 'web', () => WEB);
    expect(await readFile(real, 'utf8')).toContain('web.example');
  });

  test('takes no entry that could not be used', () => {
    expect(() => checkTarget('web', { host: '-oProxyCommand=x' })).toThrow('host: must not begin with "-"');
    expect(checkTarget('web', WEB)).toMatchObject(WEB);
  });
});

describe('the line of a value', () => {
  test('is the one on which its key stands', () => {
    const text = JSON.stringify({ a: { b: [1, { c: 'x' }], d: '"{,' }, e: 2 }, undefined, 1);
    const lines = text.split('\n');
    const lineWith = (part: string): number => lines.findIndex((line) => line.includes(part)) + 1;
    expect(lineOfJson(text, ['a', 'b', 1, 'c'])).toBe(lineWith('"c"'));
    expect(lineOfJson(text, ['a', 'd'])).toBe(lineWith('"d"'));
    expect(lineOfJson(text, ['e'])).toBe(lineWith('"e"'));
    expect(lineOfJson(text, ['a', 'missing', 'x'])).toBe(lineWith('"a"'));
  });

  test('is found in any JSON', () => {
    const key = fc.constantFrom('a', 'b', '"', '\\', '{');
    // Small: what trips a scanner are quotes and brackets, not how many there are.
    const word = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', ',', '\n'), maxLength: 4 });
    const leaf = fc.oneof(word, fc.array(word, { maxLength: 2 }), fc.dictionary(word, word, { maxKeys: 2 }));
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.dictionary(key, leaf, { maxKeys: 3 }), { maxKeys: 3 }),
        key,
        key,
        (value, outer, inner) => {
          const text = JSON.stringify(value, undefined, 2);
          if (!Object.hasOwn(value, outer) || !Object.hasOwn(value[outer] ?? {}, inner)) return;
          const line = text.split('\n')[lineOfJson(text, [outer, inner]) - 1];
          expect(line?.trim().startsWith(`${JSON.stringify(inner)}:`)).toBe(true);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

describe('the choice', () => {
  const env = (): NodeJS.ProcessEnv => ({
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
  });
  const choose = (cwd: string, explicit?: string) => chooseTarget({ env: env(), cwd, explicit });

  test('is what was named, then the project, then the folder, then what was used, then this machine', async () => {
    const places = targetPlaces(env());
    await put({ targets: { named: WEB, project: WEB, folder: WEB, used: WEB } });
    const work = join(folder, 'work/deep');
    await mkdir(work, { recursive: true });
    expect(await choose(work)).toMatchObject({ alias: 'local', why: 'nothing else was said' });
    await carryTarget(places, 'used');
    expect(await choose(work)).toMatchObject({ alias: 'used' });
    await setPrefix(places, join(folder, 'work'), 'folder');
    expect(await choose(work)).toMatchObject({
      alias: 'folder',
      why: `${join(folder, 'work')} belongs to it`,
    });
    const written = await writeProject(join(folder, 'work'), 'project');
    expect(await choose(work)).toMatchObject({ alias: 'project', why: `${written} says so` });
    expect(await choose(work, 'named')).toMatchObject({ alias: 'named', why: 'it was named' });
    expect(await choose(work, 'local')).toMatchObject({ alias: 'local', target: undefined });
    await writeProject(join(folder, 'work'), undefined);
    expect(await choose(work)).toMatchObject({ alias: 'folder' });
    await forgetTarget(places, 'folder');
    await forgetTarget(places, 'used');
    expect(await choose(work)).toMatchObject({ alias: 'local' });
  });

  test('of a name that is no target tells which there are, and of a bad entry what is wrong with it', async () => {
    await put({ targets: { web: WEB, bad: { host: 5 } } });
    await expect(choose(folder, 'wbe')).rejects.toThrow('no target "wbe"');
    await expect(choose(folder, 'bad')).rejects.toThrow('targets.bad.host: expected string, got number');
  });

  test('heeds REXD_TARGETS_FILE, and no relative XDG folder', async () => {
    const elsewhere = join(folder, 'mine.json');
    await writeFile(elsewhere, JSON.stringify({ targets: { there: WEB } }));
    const choice = await chooseTarget({
      env: { ...env(), REXD_TARGETS_FILE: elsewhere },
      cwd: folder,
      explicit: 'there',
    });
    expect(choice.alias).toBe('there');
    expect(targetPlaces({ HOME: '/h', XDG_CONFIG_HOME: 'rel' }).targets).toBe('/h/.config/rexd/targets.json');
  });

  test('knows MAX_PREFIXES folders and no more', async () => {
    const places = targetPlaces(env());
    await mkdir(join(folder, 'config/rexd'), { recursive: true });
    const prefixes = Object.fromEntries(Array.from({ length: MAX_PREFIXES }, (_, i) => [`/p${i}`, 'a']));
    await writeFile(places.settings, JSON.stringify({ prefixes }));
    await expect(setPrefix(places, '/more', 'a')).rejects.toThrow(`more than ${MAX_PREFIXES} prefixes`);
    expect(Object.keys(await readPrefixes(places))).toHaveLength(MAX_PREFIXES);
  });

  test('by a file of a project that is broken or larger than MAX_PROJECT_BYTES says so', async () => {
    const project = join(folder, PROJECT_FILE);
    await writeFile(project, '{\n"target": 5}');
    await expect(findProject(folder)).rejects.toThrow(
      `${project}, line 2: target: expected string, got number`,
    );
    await writeFile(project, `{"x": "${'x'.repeat(MAX_PROJECT_BYTES)}"}`);
    await expect(findProject(folder)).rejects.toThrow(`${MAX_PROJECT_BYTES} are allowed`);
    await rm(project);
    await mkdir(project);
    expect(await findProject(folder)).toBeUndefined();
  });
});
