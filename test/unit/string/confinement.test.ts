// The walls around an agent's files: links, dots, races, and the switch that takes them down.

import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runs } from '../../helpers/runs.js';
import { makePlace, type Place } from './place.js';

function put(place: Place, name: string, content: string): void {
  writeFileSync(join(place.home, name), content);
}

describe('confinement', () => {
  test('nothing outside of home is written, read or named', async () => {
    await using place = makePlace();
    writeFileSync(join(place.outside, 'x.md'), 'secret');
    symlinkSync(place.outside, join(place.home, 'out'));
    symlinkSync(join(place.outside, 'x.md'), join(place.home, 'x.md'));
    symlinkSync(join(place.outside, 'new.md'), join(place.home, 'new.md'));
    for (const path of [
      `${place.outside}/x.md`,
      '../outside/x.md',
      'out/x.md',
      'x.md',
      'out/new.md',
      '~/../outside/n.md',
    ])
      for (const cmd of [
        `/write --force ${path}\nx`,
        `/append ${path}\nx`,
        `/edit ${path}`,
        `/replace ${path}:L1\nx`,
      ])
        expect(await place.run('main', cmd), cmd).toMatchObject({ ok: false, code: 'FILE_NOT_ALLOWED' });
    expect(await place.run('main', '/write new.md\nx')).toMatchObject({ ok: false });
    expect(readdirSync(place.outside)).toEqual(['x.md']);
    expect(readFileSync(join(place.outside, 'x.md'), 'utf8')).toBe('secret');
  });

  test('a file that has become a link out is not reverted', async () => {
    await using place = makePlace();
    mkdirSync(join(place.home, 'd'));
    put(place, 'd/a.md', 'old');
    await place.run('main', '/replace d/a.md\nold\n---\nnew');
    writeFileSync(join(place.outside, 'a.md'), 'new');
    rmSync(join(place.home, 'd'), { recursive: true });
    symlinkSync(place.outside, join(place.home, 'd'));
    expect(await place.run('main', '/undo')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(readFileSync(join(place.outside, 'a.md'), 'utf8')).toBe('new');
  });

  test('a folder that becomes a link out while it is written to leads nowhere', async () => {
    await using place = makePlace();
    mkdirSync(join(place.home, 'd'));
    symlinkSync(place.outside, join(place.home, 'out'));
    const over = new AbortController();
    // Exchanged as often as the event loop turns: between any two steps of a command.
    const exchange = async (): Promise<void> => {
      const [d, out, spare] = ['d', 'out', 'spare'].map((name) => join(place.home, name)) as [
        string,
        string,
        string,
      ];
      while (!over.signal.aborted) {
        renameSync(d, spare);
        renameSync(out, d);
        renameSync(spare, out);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const exchanging = exchange();
    const codes = new Set<string | null>();
    for (let at = 0; at < runs(300, 40); at++)
      codes.add((await place.run('main', `/write --force d/f${at}.md\nx`)).code);
    over.abort();
    await exchanging;
    expect(readdirSync(place.outside)).toEqual([]);
    expect(
      [...codes].filter(
        (code) =>
          ![null, 'FILE_NOT_ALLOWED', 'NOT_FOUND', 'CONFLICT', 'INVALID_TARGET', 'LOAD_ERROR'].includes(code),
      ),
    ).toEqual([]);
  });

  test('allowed paths are inside, their neighbours are not', async () => {
    await using place = makePlace({ allow: ['outside'] });
    writeFileSync(join(place.outside, 'x.md'), 'theirs');
    mkdirSync(`${place.outside}-too`);
    expect(await place.run('main', `/append ${place.outside}/x.md\n!`)).toMatchObject({ ok: true });
    expect(await place.run('main', `/write ${place.outside}-too/x.md\nx`)).toMatchObject({
      code: 'FILE_NOT_ALLOWED',
    });
    expect((await place.run('main', '/info')).content).not.toContain('access:');
  });

  test('full access reaches everything, and /info says so', async () => {
    await using place = makePlace({ fullAccess: true });
    expect(await place.run('main', `/write ${place.outside}/x.md\nx`)).toMatchObject({ ok: true });
    expect(await place.run('main', `/open ${place.outside}/x.md`)).toMatchObject({ ok: true });
    expect(await place.run('main', '/ls /')).toMatchObject({ ok: true });
    expect((await place.run('main', '/info')).content).toMatch(/^access: {4}full: /mu);
    expect(await place.run('main', '/undo')).toMatchObject({ ok: true });
    expect(readdirSync(place.outside)).toEqual([]);
  });
});
