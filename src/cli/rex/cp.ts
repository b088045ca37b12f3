// rex cp: files and folders between this machine and targets, or between two targets.

import { posix, resolve } from 'node:path';
import { localSide } from '../../client/rex/copy-local.js';
import { remoteSide } from '../../client/rex/copy-remote.js';
import type { CopySide } from '../../client/rex/copy-side.js';
import {
  type CopySummary,
  planCopy,
  resolveGoal,
  runCopy,
  type TreeOptions,
} from '../../client/rex/copy-tree.js';
import { LOCAL } from '../../client/rex/target.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { coloursFor } from '../colours.js';
import { PathsOnTargets, readPlace } from './files/on-target.js';
import { Progress, sayBytes } from './files/progress.js';
import { isLost } from './lost-connection.js';

interface CpOptions {
  readonly recursive?: boolean;
  readonly follow?: boolean;
  readonly verbose?: boolean;
}

export const cpCommand: RexCommand = {
  examples: [
    ['rex cp notes.txt web:/srv/app/', 'to a folder of the target "web"'],
    ['rex cp web:logs/big.log .', 'from it; when it is cut, the same command goes on where it stopped'],
    ['rex cp -r web:/srv/app backup:/srv/app', 'from one target to another, through this machine'],
    ['rex cp a.txt :b.txt', 'to the chosen target, whichever "rex target which" says it is'],
  ],
  define: (command, run) => {
    command
      .argument(
        '<paths...>',
        'one or more sources and the goal: TARGET:PATH; without a target, on this machine',
      )
      .usage('[options] SOURCE... GOAL')
      .option('-r, --recursive', 'folders with all that is in them')
      .option('-L, --follow', 'what links inside folders point to, instead of the links')
      .option('-v, --verbose', 'name every file that was copied')
      .addHelpText('after', NOTES)
      .action(run<CpOptions>(copy));
  },
};

const NOTES = `
Every file goes into a part beside its goal (".NAME.….rex-part"), is verified by sha256 and only then gets its name, with
its mode and its time. A copy that was cut or interrupted goes on where it stopped when the same command is given again.
A link that is named is followed; links inside folders stay links, unless --follow is given.`;

async function copy(context: RexContext, paths: readonly string[], options: CpOptions): Promise<number> {
  const goalText = paths.at(-1);
  const sourceTexts = paths.slice(0, -1);
  if (goalText === undefined || sourceTexts.length === 0)
    throw new UsageError('copy what where? rex cp SOURCE GOAL');
  const sides = new Sides(context);
  const goal = await sides.find(goalText);
  const summaries: CopySummary[] = [];
  for (const text of sourceTexts) {
    const source = await sides.find(text);
    const tree = {
      from: source.side,
      source: source.path,
      to: goal.side,
      goal: await resolveGoal(goal.side, goal.path, source.name, sourceTexts.length > 1),
      recursive: options.recursive === true,
      follow: options.follow === true,
      signal: context.signal,
    };
    assertApart(tree);
    summaries.push(await copyOne(context, tree, options.verbose === true));
  }
  return await tell(context, summaries);
}

async function copyOne(context: RexContext, tree: TreeOptions, verbose: boolean): Promise<CopySummary> {
  const plan = await planCopy(tree);
  const visible = process.stderr.isTTY && !context.quiet;
  using progress = visible
    ? new Progress({
        totalBytes: plan.bytes,
        totalFiles: plan.files.length,
        stream: process.stderr,
        colours: coloursFor(process.stderr),
      })
    : undefined;
  let done = 0;
  try {
    return await runCopy(plan, tree, {
      onFile: (path) => progress?.begin(path),
      onBytes: (bytes, resumed) => {
        done += bytes;
        progress?.add(bytes, resumed);
      },
      onCopied: (path, { bytes, resumedAt }) => {
        progress?.finishFile();
        const resumed = resumedAt > 0 ? `, went on at ${sayBytes(resumedAt)}` : '';
        if (verbose) context.say(`${path} (${sayBytes(bytes)}${resumed})`);
      },
    });
  } catch (thrown) {
    if (plan.bytes > 0 && (context.signal.aborted || isLost(thrown)))
      context.say(
        `rex: stopped at ${Math.floor((done / plan.bytes) * 100)}%; the same command goes on where it stopped`,
      );
    throw thrown;
  }
}

async function tell(context: RexContext, summaries: readonly CopySummary[]): Promise<number> {
  const sum = (
    key: 'files' | 'folders' | 'links' | 'bytes' | 'resumedBytes' | 'failed' | 'bareFiles',
  ): number => summaries.reduce((total, summary) => total + summary[key], 0);
  const failures = summaries.flatMap((summary) => summary.failures);
  for (const failure of failures) context.warn(`rex: ${failure}`);
  if (sum('failed') > failures.length) context.warn(`rex: and ${sum('failed') - failures.length} more`);
  if (sum('bareFiles') > 0)
    context.say(
      `rex: mode and time could not be set on ${sum('bareFiles')} files: the target runs no chmod and touch`,
    );
  if (context.json)
    await context.outJson({
      files: sum('files'),
      folders: sum('folders'),
      links: sum('links'),
      bytes: sum('bytes'),
      resumed_bytes: sum('resumedBytes'),
      failed: sum('failed'),
      failures,
    });
  else if (process.stderr.isTTY)
    context.say(`copied ${sum('files')} ${sum('files') === 1 ? 'file' : 'files'}, ${sayBytes(sum('bytes'))}`);
  return sum('failed') > 0 ? EXIT.failed : EXIT.ok;
}

/** A file onto itself, or a folder into itself, would never end well. */
function assertApart({ from, source, to, goal, recursive }: TreeOptions): void {
  if (from !== to) return;
  if (source === goal) throw new UsageError(`${to.label}${goal}: source and goal are the same`);
  if (recursive && goal.startsWith(source.endsWith('/') ? source : `${source}/`))
    throw new UsageError(`${to.label}${goal}: a folder cannot be copied into itself`);
}

/** Plain paths are this machine's here, as with scp: a copy names both of its places. */
class Sides {
  readonly #context: RexContext;
  readonly #targets: PathsOnTargets;
  readonly #remote = new Map<string, CopySide>();

  constructor(context: RexContext) {
    this.#context = context;
    this.#targets = new PathsOnTargets(context);
  }

  async find(text: string): Promise<Found> {
    const { alias, path } = readPlace(text);
    if (alias === undefined || alias === LOCAL) return this.#here(path);
    const choice = await this.#context.choose(alias === '' ? undefined : alias);
    if (choice.target === undefined) return this.#here(path);
    const place = await this.#targets.find(text);
    const side = this.#remote.get(choice.alias) ?? remoteSide(place.client, `${choice.alias}:`);
    this.#remote.set(choice.alias, side);
    return { side, path: place.path, name: nameOf(path, place.path) };
  }

  #here(path: string): Found {
    const found = resolve(path);
    const slash = path.endsWith('/') && found !== '/' ? '/' : '';
    return { side: localSide, path: `${found}${slash}`, name: nameOf(path, found) };
  }
}

interface Found {
  readonly side: CopySide;
  readonly path: string;
  /** Its name in a folder that it is copied into; undefined when only what is in it is meant: `dir/.`. */
  readonly name: string | undefined;
}

function nameOf(written: string, path: string): string | undefined {
  const name = posix.basename(path);
  return /(^|\/)\.{1,2}\/?$/.test(written) || name === '' ? undefined : name;
}
