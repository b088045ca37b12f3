// The way back from edits: step by step, to the byte, and never over the work of others.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_UNDO_BYTES, MAX_UNDO_STEPS } from '../../../src/string/edit/undo-store.js';
import { renderFeedback } from '../../../src/string/result.js';
import { runs } from '../../helpers/runs.js';
import { makePlace, type Place } from './place.js';

function put(place: Place, name: string, content: string | Buffer): void {
  writeFileSync(join(place.home, name), content);
}

function get(place: Place, name: string): string {
  return readFileSync(join(place.home, name), 'utf8');
}

describe('/undo', () => {
  test('goes back step by step, to the file that was not there', async () => {
    await using place = makePlace();
    await place.run('main', '/write a.md\none\n');
    await place.run('main', '/append a.md\ntwo\n');
    await place.run('main', '/replace a.md\none\n---\n1');
    const outcome = await place.run('main', '/undo');
    expect(outcome.content).toBe('Undo: reverted ~/a.md (2 lines)\none\ntwo\n');
    expect(renderFeedback(outcome.result)).toContain('✓ ~/a.md — Added 1 line, removed 1 line\n\n');
    await place.run('main', '/undo');
    expect(get(place, 'a.md')).toBe('one\n');
    expect((await place.run('main', '/undo')).content).toBe('Undo: deleted ~/a.md (was newly created)');
    expect(readdirSync(place.home)).toEqual([]);
    expect(await place.run('main', '/undo')).toMatchObject({
      code: 'NOT_FOUND',
      content: 'Nothing to undo.',
    });
  });

  test('is of the topic, and outlives the daemon', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'old');
    await place.run('main', '/replace a.md\nold\n---\nnew');
    expect(await place.run('other', '/undo')).toMatchObject({ code: 'NOT_FOUND' });
    await place.restart();
    await place.run('main', '/undo');
    expect(get(place, 'a.md')).toBe('old');
  });

  test('never takes back what somebody else has written', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'old');
    put(place, 'b.md', 'old');
    await place.run('main', '/replace b.md\nold\n---\nnew');
    await place.run('main', '/replace a.md\nold\n---\nnew');
    put(place, 'a.md', 'other');
    expect(await place.run('main', '/undo')).toMatchObject({ code: 'CONFLICT' });
    expect(get(place, 'a.md')).toBe('other');
    expect(await place.run('main', '/undo --skip')).toMatchObject({ ok: true });
    await place.run('main', '/undo');
    expect(get(place, 'b.md')).toBe('old');
  });

  test('passes over an edit that was never made: the daemon has ended before it was', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'first');
    await place.run('main', '/replace a.md\nfirst\n---\nold');
    await place.run('main', '/replace a.md\nold\n---\nnew');
    await place.run('main', '/write b.md\nb');
    put(place, 'a.md', 'old');
    rmSync(join(place.home, 'b.md'));
    expect((await place.run('main', '/undo')).content).toBe('Undo: reverted ~/a.md (1 lines)\nfirst');
    expect(await place.run('main', '/undo')).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('skips what is damaged on the disk', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'old');
    await place.run('main', '/replace a.md\nold\n---\nnew');
    const folder = join(place.dataDir, 'undo/default/main');
    writeFileSync(join(folder, '000000000002.undo'), 'no head');
    writeFileSync(join(folder, '000000000003.undo'), '{"path":"/x"}\n');
    expect(await place.run('main', '/undo')).toMatchObject({ ok: true });
    expect(get(place, 'a.md')).toBe('old');
  });

  test('keeps a step that cannot be read in this moment', async () => {
    await using place = makePlace();
    put(place, 'a.md', 'old');
    await place.run('main', '/replace a.md\nold\n---\nnew');
    const newest = join(place.dataDir, 'undo/default/main/000000000002.undo');
    mkdirSync(newest);
    for (const cmd of ['/undo', '/undo --skip'])
      expect(await place.run('main', cmd)).toMatchObject({ code: 'INTERNAL_ERROR' });
    expect(get(place, 'a.md')).toBe('new');
    rmdirSync(newest);
    expect(await place.run('main', '/undo')).toMatchObject({ ok: true });
    expect(get(place, 'a.md')).toBe('old');
  });

  test('takes no other word than --skip', async () => {
    await using place = makePlace();
    await place.run('main', '/write a.md\nx');
    for (const word of ['a.md', '2', '--skip x', '--all'])
      expect(await place.run('main', `/undo ${word}`)).toMatchObject({
        code: 'INVALID_PAYLOAD',
        content: `Unknown: /undo ${word}\nUsage: /undo [--skip]`,
      });
    expect(get(place, 'a.md')).toBe('x');
  });

  test('is forgotten with the topic', async () => {
    await using place = makePlace();
    await place.run('main', '/write a.md\nx');
    await place.run('main', '/open a.md');
    await place.run('main', '/close');
    expect(await place.run('main', '/undo')).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('remembers so many steps, and so many bytes', async () => {
    await using place = makePlace();
    const folder = join(place.dataDir, 'undo/default/main');
    mkdirSync(folder, { recursive: true });
    const older = (at: number): string => join(folder, `${String(at).padStart(12, '0')}.undo`);
    for (let at = 1; at <= MAX_UNDO_STEPS; at++) writeFileSync(older(at), '');
    await place.run('main', '/write a.md\n0');
    expect(readdirSync(folder)).toHaveLength(MAX_UNDO_STEPS);
    expect(readdirSync(folder)).not.toContain('000000000001.undo');
    writeFileSync(older(MAX_UNDO_STEPS), Buffer.alloc(MAX_UNDO_BYTES));
    await place.run('main', '/append a.md\n0');
    expect(readdirSync(folder)).toHaveLength(2);
  });

  test('gives every byte back, whatever was done', async () => {
    await using place = makePlace();
    const start = '# One\r\ntext\r\n\r\n<!-- #b -->\r\nblock\r\n<!-- /b -->\r\n';
    const edit = fc.constantFrom(
      '/append a.md\nmore\n',
      '/edit a.md#b\nnew\n\n  lines',
      '/edit a.md#one\nsection',
      '/replace a.md:L1-L2\n',
      '/replace a.md --all\ne\n---\nE',
      '/write --force a.md\nall new',
      '/write --force a.md\n# One\n\n<!-- #b -->\n<!-- /b -->',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (commands) => {
        put(place, 'a.md', start);
        const files = [start];
        for (const cmd of commands) {
          const { ok } = await place.run('main', cmd);
          if (ok && get(place, 'a.md') !== files.at(-1)) files.push(get(place, 'a.md'));
        }
        for (const before of files.slice(0, -1).toReversed()) {
          await place.run('main', '/undo');
          expect(get(place, 'a.md')).toBe(before);
        }
        expect(await place.run('main', '/undo')).toMatchObject({ code: 'NOT_FOUND' });
      }),
      { numRuns: runs(200, 15) },
    );
  });

  // What the kernel has counted: bytes of all reads and writes of this process.
  test.skipIf(!existsSync('/proc/self/io'))(
    'and the edit itself costs one reading and one writing',
    async () => {
      await using place = makePlace();
      const size = 10 * 1024 * 1024;
      put(place, 'big.md', `<!-- #b -->\nold\n<!-- /b -->\n${'a line of some length\n'.repeat(size / 22)}`);
      await place.run('main', '/edit big.md:L1'); // whatever is loaded late is loaded now
      await place.run('main', '/replace big.md:L2\nolder');
      const count = (): number[] =>
        [...readFileSync('/proc/self/io', 'utf8').matchAll(/^[rw]char: (\d+)$/gmu)].map(([, bytes]) =>
          Number(bytes),
        );
      const before = count();
      expect(await place.run('main', '/edit big.md#b\nnew')).toMatchObject({ ok: true });
      const [read = 0, written = 0] = count().map((bytes, at) => bytes - (before[at] ?? 0));
      expect(read).toBeLessThan(1.5 * size);
      expect(written).toBeLessThan(1.5 * size);
    },
  );

  test('costs as much as was changed, not as the file is large', async () => {
    await using place = makePlace();
    put(place, 'big.md', `${'line of text\n'.repeat(50_000)}end\n`);
    await place.run('main', '/replace big.md\nend\n---\nEND');
    const folder = join(place.dataDir, 'undo/default/main');
    const [name = ''] = readdirSync(folder);
    expect(statSync(join(folder, name)).size).toBeLessThan(1000);
  });
});

test('who writes what is there already is not told to undo it: that would be another edit', async () => {
  await using place = makePlace();
  await place.run('main', '/write a.md\none\n');
  const { ok, content } = await place.run('main', '/write a.md\none\n');
  expect(ok).toBe(true);
  expect(content).toMatch(/\n---\n\(no changes\)$/u);
});
