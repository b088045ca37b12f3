import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RootSet } from '../../../../src/host/files/root-set.js';
import type { Files } from '../../../../src/rexd/fs/file-call.js';
import { inTurn, MAX_WAITING_CHANGES } from '../../../../src/rexd/fs/in-turn.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let root: string;
let call: Files;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-turn-')));
  call = {
    roots: new RootSet([root]),
    resolve: (path, base) => resolve(base ?? root, path),
    // Each call has its own.
    get signal() {
      return new AbortController().signal;
    },
  };
  writeFileSync(join(root, 'a'), '');
  symlinkSync('a', join(root, 'link'));
});

afterEach(() => removeFolder(root));

const at = (...names: string[]): string[] => names.map((name) => join(root, name));

function makeGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('changes to one file come one after the other, by whatever name, and others do not wait', async () => {
  const log: string[] = [];
  const gate = makeGate();
  const change = (name: string, files: string[]): Promise<void> =>
    inTurn(files, call, async () => {
      log.push(`${name} begins`);
      if (name === 'first') await gate.opened;
      log.push(`${name} ends`);
    });
  const all = [change('first', at('a')), change('second', at('b', 'link')), change('third', at('c'))];
  await all[2];
  expect(log).toEqual(['first begins', 'third begins', 'third ends']);
  gate.open();
  await Promise.all(all);
  expect(log.slice(3)).toEqual(['first ends', 'second begins', 'second ends']);
});

test('changes to the same files in another order do not wait for each other for ever', async () => {
  const turns = Array.from({ length: 20 }, (_, i) =>
    inTurn(i % 2 === 0 ? at('a', 'b', 'c') : at('c', 'b', 'a'), call, async () => {
      await Promise.resolve();
      return i;
    }),
  );
  expect(await Promise.all(turns)).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test('a change that fails lets the next one in', async () => {
  await expect(inTurn(at('a'), call, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await inTurn(at('a'), call, () => Promise.resolve('yes'))).toBe('yes');
});

test(`no more than ${MAX_WAITING_CHANGES} wait for a file`, async () => {
  const gate = makeGate();
  const waiting = Array.from({ length: MAX_WAITING_CHANGES + 1 }, () =>
    inTurn(at('a'), call, () => gate.opened),
  );
  await expect(inTurn(at('a'), call, () => gate.opened)).rejects.toMatchObject({ code: -32008 });
  gate.open();
  await Promise.all(waiting);
});
