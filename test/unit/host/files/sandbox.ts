// A root with an outside beside it, and a look at the end whether anything was left open or lying about.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RootSet, type RootSetOptions } from '../../../../src/host/files/root-set.js';
import { TEMP_PREFIX } from '../../../../src/host/files/temp-file.js';

export const SECRET = 'what is outside must stay outside';

export interface Sandbox extends Disposable {
  readonly base: string;
  readonly root: string;
  /** Holds `secret.txt`, and `dir/secret.txt`. */
  readonly outside: string;
  readonly set: RootSet;
  /** An absolute path below the root. */
  at(...names: string[]): string;
  /** A file below the root, its directories made. */
  file(path: string, content?: string | Uint8Array): string;
}

export function makeSandbox(options: RootSetOptions = {}): Sandbox {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-files-')));
  const root = join(base, 'root');
  const outside = join(base, 'outside');
  mkdirSync(root);
  mkdirSync(join(outside, 'dir'), { recursive: true });
  writeFileSync(join(outside, 'secret.txt'), SECRET);
  writeFileSync(join(outside, 'dir', 'secret.txt'), SECRET);
  return {
    base,
    root,
    outside,
    set: new RootSet([root], options),
    at: (...names) => join(root, ...names),
    file(path, content = '') {
      const full = join(root, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    [Symbol.dispose]() {
      const open = openBelow(base);
      const temporary = snapshot(base).filter((line) => line.includes(TEMP_PREFIX));
      rmSync(base, { recursive: true, force: true });
      if (open.length > 0) throw new Error(`left open: ${open.join(', ')}`);
      if (temporary.length > 0) throw new Error(`left behind: ${temporary.join(', ')}`);
    },
  };
}

/** Every entry below a directory with what can be seen of it: two equal snapshots mean nothing was touched. */
export function snapshot(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const stat = lstatSync(path);
      const content = stat.isFile() && stat.size < 10_000 ? readFileSync(path, 'latin1') : '';
      const facts = stat.isDirectory() ? '' : `${stat.size} ${stat.mtimeMs} ${stat.nlink}`;
      return `${path} ${stat.mode.toString(8)} ${facts} ${content}`;
    })
    .sort();
}

function openBelow(base: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(base) ? [path] : [];
    } catch {
      return []; // the descriptor of this very listing
    }
  });
}
