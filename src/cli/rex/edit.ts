// rex edit: a text in a file replaced by another, with what changes shown.

import { createHash } from 'node:crypto';
import { openRemoteFile } from '../../client/rex/copy-read.js';
import { UsageError } from '../flags.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { coloursFor } from '../colours.js';
import { explainPath, type OnTarget, PathsOnTargets } from './files/on-target.js';
import { readInput } from './files/read-input.js';
import { type Replacement, replaceText, sayDiff } from './files/show-diff.js';

/** A file that is edited is held whole, to show what changes and to be sure that it is the same when it does. */
export const MAX_EDIT_BYTES = 16 * 1024 * 1024;

interface EditOptions {
  readonly old?: string;
  readonly new?: string;
  readonly oldFrom?: string;
  readonly newFrom?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

export const editCommand: RexCommand = {
  examples: [
    ['rex edit web:app.conf --old "port = 80" --new "port = 8080"', 'one place, which must be the only one'],
    ['rex edit web:main.c --old foo --new bar --all --dry-run', 'what would change, without changing it'],
    ['rex edit web:a.txt --old-from old.txt --new-from - < new.txt', 'texts of several lines, from files'],
  ],
  define: (command, run) => {
    command
      .argument('<path>', 'TARGET:PATH, or PATH on the chosen target')
      .option('--old <text>', 'what is there, to the letter')
      .option('--new <text>', 'what is to be there')
      .option('--old-from <file>', 'the same from a file of this machine; "-" is standard input')
      .option('--new-from <file>', 'the same from a file of this machine; "-" is standard input')
      .option('--all', 'every place, not only one')
      .option('-n, --dry-run', 'show what would change, and change nothing')
      .action(run<EditOptions>(edit));
  },
};

async function edit(context: RexContext, args: readonly string[], options: EditOptions): Promise<undefined> {
  const old = await textOf('old', options.old, options.oldFrom);
  const fresh = await textOf('new', options.new, options.newFrom);
  if (old === '') throw new UsageError('--old is empty; "rex write" puts a whole new file');
  if (old === fresh) throw new UsageError('--old and --new are the same: nothing would change');
  const [path = ''] = args;
  const place = await new PathsOnTargets(context).find(path);
  try {
    const { text, sha256 } = await readText(context, place);
    const change = replaceText(text, old, fresh, options.all === true);
    assertOne(context, place, change, options);
    if (options.dryRun !== true) {
      const params = {
        path: place.path,
        old_string: old,
        new_string: fresh,
        replace_all: options.all === true,
      };
      await place.client.request('fs.edit', { ...params, expected_sha256: sha256 });
    }
    await tell(context, place, change, options);
    return undefined;
  } catch (thrown) {
    throw explainPath(place.shown, thrown);
  }
}

function assertOne(context: RexContext, place: OnTarget, { count }: Replacement, { all }: EditOptions): void {
  if (count === 0)
    context.fail(`${place.shown}: the old text is not there`, 'It must match to the letter, spaces too.');
  if (count > 1 && all !== true)
    context.fail(
      `${place.shown}: the old text is there more than once`,
      'Give more of what is around it, or change every place with --all.',
    );
}

async function tell(
  context: RexContext,
  place: OnTarget,
  change: Replacement,
  { dryRun, all }: EditOptions,
): Promise<void> {
  const replacements = all === true ? change.count : 1;
  if (context.json) {
    const facts = { target: place.choice.alias, path: place.path, replacements, dry_run: dryRun === true };
    await context.outJson({ ...facts, diff: change.diff });
    return;
  }
  if (!context.quiet) await context.out(`${sayDiff(place.shown, change, coloursFor(process.stdout))}\n`);
  const places = replacements === 1 ? 'one place' : `${replacements} places`;
  context.say(dryRun === true ? `would change ${places}; nothing was written` : `changed ${places}`);
}

async function readText(context: RexContext, place: OnTarget): Promise<{ text: string; sha256: string }> {
  const { facts, chunks } = await openRemoteFile(place.client, place.path, { signal: context.signal });
  if (facts.size > MAX_EDIT_BYTES)
    context.fail(`${place.shown}: ${facts.size} bytes, edit takes up to ${MAX_EDIT_BYTES}`);
  const parts: Buffer[] = [];
  for await (const bytes of chunks) parts.push(bytes);
  const bytes = Buffer.concat(parts);
  // A file need not be text: what does not decode stays on both sides of the comparison what it is.
  return { text: bytes.toString('utf8'), sha256: createHash('sha256').update(bytes).digest('hex') };
}

async function textOf(
  name: 'old' | 'new',
  given: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (given !== undefined && file !== undefined) throw new UsageError(`--${name} or --${name}-from?`);
  if (given !== undefined) return given;
  if (file === undefined) throw new UsageError(`--${name} TEXT or --${name}-from FILE is needed`);
  return (await readInput(file, MAX_EDIT_BYTES)).toString('utf8');
}
