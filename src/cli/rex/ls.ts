// rex ls: what is in a folder.

import { posix } from 'node:path';
import type { RexResult } from '../../client/rex/rex-methods.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { type Colours, coloursFor, printable } from '../colours.js';
import { explainPath, type OnTarget, PathsOnTargets } from './files/on-target.js';
import { sayBytes } from './files/progress.js';

/** The server's own cap; what is left out is told. */
const MAX_LISTED = 100_000;

interface LsOptions {
  readonly recursive?: boolean;
  readonly long?: boolean;
  readonly all?: boolean;
  readonly human?: boolean;
  readonly gitignore?: boolean;
}

type Entry = RexResult<'fs.list'>['entries'][number];

export const lsCommand: RexCommand = {
  examples: [
    ['rex ls web:/srv/app', 'the names in a folder'],
    ['rex ls -la -t web', 'all of the working folder, with sizes and times'],
    ['rex ls -R web:src --gitignore --json', 'a whole tree without what git ignores, for a program'],
  ],
  define: (command, run) => {
    command
      .argument('[paths...]', 'TARGET:PATH, or PATH on the chosen target; the working folder when absent')
      .option('-R, --recursive', 'all that is below as well')
      .option('-l, --long', 'kind, size and time of each')
      .option('-a, --all', 'names that begin with a dot as well')
      .option('-H, --human', 'with -l, sizes in KiB and MiB')
      .option('--gitignore', 'without .git and what .gitignore files leave out')
      .action(run<LsOptions>(list));
  },
};

async function list(context: RexContext, paths: readonly string[], options: LsOptions): Promise<undefined> {
  const targets = new PathsOnTargets(context);
  const texts = paths.length === 0 ? [':.'] : paths;
  for (const [i, text] of texts.entries()) {
    const place = await targets.find(text);
    try {
      const result = await listOne(place, options);
      if (context.json) await context.outJson({ target: place.choice.alias, ...result });
      else {
        const title = texts.length > 1 ? `${i === 0 ? '' : '\n'}${place.shown}:\n` : '';
        const text = sayEntries(result, options, coloursFor(process.stdout));
        await context.out(`${title}${text}`);
      }
      if (result.truncated)
        context.warn(`rex: ${place.shown}: not all of it; there are more than ${result.entries.length}`);
    } catch (thrown) {
      throw explainPath(place.shown, thrown);
    }
  }
  return undefined;
}

async function listOne({ client, path }: OnTarget, options: LsOptions): Promise<RexResult<'fs.list'>> {
  const found = await client.request('fs.stat', { path });
  // As ls does: a file is shown by itself. What is not there is told by the listing.
  if (found.exists && found.type !== 'dir' && found.type !== 'symlink') {
    const { type = 'other', size = null, mtime = null } = found;
    const name = posix.basename(found.path);
    return { path: found.path, entries: [{ name, path: found.path, type, size, mtime }], truncated: false };
  }
  const result = await client.request('fs.list', {
    path,
    recursive: options.recursive === true,
    gitignore: options.gitignore === true,
    max_entries: MAX_LISTED,
  });
  const hidden = (entry: Entry): boolean => /(^|\/)\./.test(below(result.path, entry.path));
  const entries = result.entries.filter((entry) => options.all === true || !hidden(entry));
  return { ...result, entries };
}

function sayEntries(result: RexResult<'fs.list'>, options: LsOptions, colours: Colours): string {
  const names = result.entries.map((entry) => {
    const name = options.recursive === true ? below(result.path, entry.path) : entry.name;
    return sayName(name, entry.type, colours);
  });
  if (options.long !== true) return names.map((name) => `${name}\n`).join('');
  const sizes = result.entries.map(({ size }) =>
    size === null ? '-' : options.human === true ? sayBytes(size) : String(size),
  );
  const width = Math.max(0, ...sizes.map((size) => size.length));
  return result.entries
    .map(({ type, mtime }, i) => {
      const when = mtime === null ? ''.padEnd(19) : sayTime(mtime);
      return `${KINDS[type]} ${(sizes[i] ?? '').padStart(width)} ${when} ${names[i]}\n`;
    })
    .join('');
}

const KINDS = { file: '-', dir: 'd', symlink: 'l', other: '?' } as const;

function sayName(name: string, type: Entry['type'], colours: Colours): string {
  if (!process.stdout.isTTY && !colours.on) return name;
  const safe = printable(name);
  if (type === 'dir') return `${colours.cyan(safe)}/`;
  return type === 'symlink' ? `${colours.magenta(safe)}@` : safe;
}

export function sayTime(mtimeMs: number): string {
  return new Date(mtimeMs).toISOString().slice(0, 19).replace('T', ' ');
}

function below(folder: string, path: string): string {
  const prefix = folder.endsWith('/') ? folder : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}
