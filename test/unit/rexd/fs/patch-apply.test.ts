import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConflictError, TooLargeError } from '../../../../src/host/files/errors.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { TEMP_PREFIX } from '../../../../src/host/files/temp-file.js';
import { ASIDE_SUFFIX } from '../../../../src/host/files/temp-sweep.js';
import { MAX_WRITE_BYTES } from '../../../../src/host/files/write.js';
import { parseOwner } from '../../../../src/host/store/lock-owner.js';
import type { Files } from '../../../../src/rexd/fs/file-call.js';
import { applyPlan } from '../../../../src/rexd/fs/patch-apply.js';
import { MAX_PATCH_BYTES, type PatchPlan, planPatch } from '../../../../src/rexd/fs/patch-plan.js';
import { parsePatch } from '../../../../src/rexd/fs/patch-text.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let root: string;
let call: Files;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-patch-')));
  call = {
    roots: new RootSet([root]),
    resolve: (path, base) => resolve(base ?? root, path),
    signal: new AbortController().signal,
  };
  for (const name of ['a', 'b', 'gone', 'from']) writeFileSync(join(root, name), `${name}\n`);
});

afterEach(() => removeFolder(root));

async function plan(...lines: string[]): Promise<PatchPlan> {
  const text = ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
  return await planPatch(parsePatch(text), call);
}

const EVERYTHING = [
  '*** Add File: new/n',
  '+n',
  '*** Update File: a',
  '-a',
  '+A',
  '*** Update File: b',
  '-b',
  '+B',
  '*** Delete File: gone',
  '*** Update File: from',
  '*** Move to: to',
  '-from',
  '+to',
];

test('planning writes nothing', async () => {
  await plan(...EVERYTHING);
  expect(content()).toEqual({ a: 'a\n', b: 'b\n', from: 'from\n', gone: 'gone\n' });
});

test('what was planned is done', async () => {
  await applyPlan((await plan(...EVERYTHING)).fates, call);
  expect(content()).toEqual({ a: 'A\n', b: 'B\n', 'new/n': 'n\n', to: 'to\n' });
});

test.each(['b', 'from'])(
  '%s, changed by somebody else meanwhile, undoes everything but that change',
  async (name) => {
    const { fates } = await plan(...EVERYTHING);
    writeFileSync(join(root, name), 'theirs\n');
    await expect(applyPlan(fates, call)).rejects.toSatisfy(
      (error) => error instanceof ConflictError && error.current?.sha256 === sha256('theirs\n'),
    );
    const before: Record<string, string> = { a: 'a\n', b: 'b\n', from: 'from\n', gone: 'gone\n' };
    expect(content()).toEqual({ ...before, [name]: 'theirs\n' });
    expect(readdirSync(root)).not.toContain('new');
  },
);

test('a file removed meanwhile undoes everything else', async () => {
  const { fates } = await plan(...EVERYTHING);
  rmSync(join(root, 'gone'));
  await expect(applyPlan(fates, call)).rejects.toThrow('no such file');
  expect(content()).toEqual({ a: 'a\n', b: 'b\n', from: 'from\n' });
});

test('a name taken meanwhile undoes everything else', async () => {
  const { fates } = await plan(...EVERYTHING);
  mkdirSync(join(root, 'to'));
  await expect(applyPlan(fates, call)).rejects.toThrow('already exists');
  expect(content()).toEqual({ a: 'a\n', b: 'b\n', from: 'from\n', gone: 'gone\n' });
});

test('a file too large to be written is not patched', async () => {
  writeFileSync(join(root, 'a'), Buffer.alloc(MAX_WRITE_BYTES + 1));
  await expect(plan('*** Update File: a', '-a', '+b')).rejects.toBeInstanceOf(TooLargeError);
});

test(`one patch holds no more in memory than ${MAX_PATCH_BYTES} bytes`, async () => {
  expect(MAX_PATCH_BYTES).toBe(2 * MAX_WRITE_BYTES);
  const half = Buffer.concat([Buffer.alloc(MAX_WRITE_BYTES - 6, 'x'), Buffer.from('\nlast\n')]);
  for (const name of ['a', 'b']) writeFileSync(join(root, name), half);
  const update = (name: string): string[] => [`*** Update File: ${name}`, '-last', '+LAST'];
  await expect(plan(...update('a'))).resolves.toBeDefined();
  await expect(plan(...update('a'), ...update('b'))).rejects.toBeInstanceOf(TooLargeError);
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function content(): Record<string, string> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    names.sort().map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]),
  );
}

test('a file on its way out can be told from rubbish: it has its own name, in a folder with an owner', async () => {
  const { fates } = await plan('*** Delete File: gone', '*** Delete File: from');
  let seen: string[] = [];
  const watched: Files = {
    ...call,
    // Asked for at every step: what is there then is what a killed process leaves behind.
    get signal() {
      const now = readdirSync(root, { recursive: true }).map(String);
      if (now.some((name) => name.endsWith('/gone'))) seen = now;
      return call.signal;
    },
  };
  await applyPlan(fates, watched);
  const folder = seen.find((name) => name.endsWith(ASIDE_SUFFIX)) ?? '';
  expect(seen).toContain(`${folder}/gone`);
  const owner = parseOwner(folder.slice(TEMP_PREFIX.length, -ASIDE_SUFFIX.length));
  expect(owner?.pid).toBe(process.pid);
  expect(content()).toEqual({ a: 'a\n', b: 'b\n' });
  expect(readdirSync(root).sort()).toEqual(['a', 'b']);
});
