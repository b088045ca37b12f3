// rex glob: the paths that match a pattern.

import { posix } from 'node:path';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { forReader } from '../colours.js';
import { explainPath, PathsOnTargets } from './files/on-target.js';
import { parseCount } from './files/parse-range.js';

/** Asked for unless told otherwise. */
const DEFAULT_MATCHES = 100_000;

interface GlobOptions {
  readonly max?: number;
  readonly dot: boolean;
  readonly gitignore?: boolean;
  readonly null?: boolean;
}

export const globCommand: RexCommand = {
  examples: [
    ["rex glob 'web:src/**/*.ts'", 'files of a kind at any depth'],
    ["rex glob -t web '/var/log/{syslog,*.err}'", 'one of several names'],
    ["rex glob 'web:**/*.log' -0 | xargs -0 -n1 echo", 'names with spaces and newlines, for other programs'],
  ],
  define: (command, run) => {
    command
      .argument('<pattern>', 'TARGET:PATTERN with * ? [a-z] {a,b} **; in quotes, or the shell here takes it')
      .option('--max <n>', 'no more than this many', parseCount)
      .option('--no-dot', 'without names that begin with a dot')
      .option('--gitignore', 'without .git and what .gitignore files leave out')
      .option('-0, --null', 'a NUL after each path instead of a newline')
      .action(run<GlobOptions>(glob));
  },
};

async function glob(context: RexContext, args: readonly string[], options: GlobOptions): Promise<undefined> {
  const [text = ''] = args;
  const place = await new PathsOnTargets(context).find(text);
  const { client, written, folder } = place;
  const absolute = posix.isAbsolute(written) || written.startsWith('~');
  const result = await client
    .request('fs.glob', {
      pattern: absolute ? place.path : written,
      ...(folder !== undefined && !absolute && { cwd: folder }),
      max_matches: options.max ?? DEFAULT_MATCHES,
      dot: options.dot,
      gitignore: options.gitignore === true,
    })
    .catch((thrown: unknown) => {
      throw explainPath(place.shown, thrown);
    });
  const base = absolute ? undefined : (folder ?? client.session.workspace_roots[0]);
  const matches = result.matches.map((path) => (base === undefined ? path : shorten(path, base)));
  if (context.json) await context.outJson({ target: place.choice.alias, ...result });
  else
    await context.out(
      matches.map((path) => (options.null === true ? `${path}\0` : `${forReader(path)}\n`)).join(''),
    );
  if (result.truncated) context.warn(`rex: not all of them; the first ${matches.length}`);
  return undefined;
}

/** As the pattern was written: relative to where it began. */
function shorten(path: string, base: string): string {
  const prefix = base.endsWith('/') ? base : `${base}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}
