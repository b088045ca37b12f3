// A root with an outside beside it, and a look at the end whether anything was left open or lying about.

import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { letGo } from '../../../../src/host/files/held-directories.js';
import { RootSet, type RootSetOptions } from '../../../../src/host/files/root-set.js';
import { TEMP_PREFIX } from '../../../../src/host/files/temp-file.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

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
      letGo();
      const open = openBelow(base);
      const temporary = namesBelow(Buffer.from(base)).filter((name) => name.startsWith(TEMP_PREFIX));
      removeFolder(base);
      if (open.length > 0) throw new Error(`left open: ${open.join(', ')}`);
      if (temporary.length > 0) throw new Error(`left behind: ${temporary.join(', ')}`);
    },
  };
}

/** A small program, run to its end. Its exit code. */
export function run(command: string, ...args: string[]): number | null {
  return spawnSync(command, args, { stdio: 'ignore' }).status;
}

const NOBODY = 65_534;

/** Runs as somebody without special rights, whom the sandbox is made to belong to; root may do everything. */
export async function asNobody<T>(box: Sandbox, action: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await action();
  run('chown', '-R', String(NOBODY), box.base);
  process.seteuid?.(NOBODY);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
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

/** By bytes, so that names that are not UTF-8 do not end it. */
function namesBelow(directory: Buffer): string[] {
  return readdirSync(directory, { encoding: 'buffer', withFileTypes: true }).flatMap((entry) => {
    const path = Buffer.concat([directory, Buffer.from('/'), entry.name]);
    return (entry.isDirectory() ? namesBelow(path) : []).concat(entry.name.toString('latin1'));
  });
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
