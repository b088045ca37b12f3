// rex target add, rex target remove.

import { nearest } from '../../../base/nearest.js';
import { assertAlias, LOCAL, type Target } from '../../../client/rex/target.js';
import { UsageError } from '../../flags.js';
import type { RexContext } from '../context.js';
import { stopKeepers } from '../keep.js';
import { entryOfWay, keepBeside, type WayOptions } from './add-entry.js';
import { assertAbsolute } from './add-options.js';
import { forgetTarget } from './choose-target.js';
import { targetPlaces } from './places.js';
import { changeTarget, checkTarget, readTargets } from './targets-file.js';

export interface AddOptions extends WayOptions {
  readonly root: readonly string[];
  readonly defaultCwd?: string;
  readonly description?: string;
  readonly loginShell?: boolean;
  readonly force?: boolean;
}

export async function addTarget(
  context: RexContext,
  args: readonly string[],
  options: AddOptions,
): Promise<undefined> {
  const [alias = '', address = ''] = args;
  if (alias === LOCAL) throw new UsageError('"local" is this machine, and always there');
  assertAlias(alias);
  const way = entryOfWay(address, options);
  const entry = { ...way, ...entryFrom(options, defaultCwd(context, options)) };
  const places = targetPlaces(process.env);
  let known = false;
  await changeTarget(places.targets, alias, (before) => {
    known = before !== undefined;
    if (known && options.force !== true)
      context.fail(`there is a target "${alias}" already`, 'Change it with --force, or remove it first.');
    const after = { workspaceRoots: [], ...keepBeside(before ?? {}, way), ...entry };
    checkTarget(alias, after);
    return after;
  });
  if (known) await stopKeepers(process.env, alias).catch(() => 0); // they go the old way
  if (context.json)
    await context.outJson({ target: alias, ...(await readTargets(places.targets)).targets[alias] });
  context.say(`${known ? 'changed' : 'added'} ${alias}`);
  if (!context.json && options.command === undefined && !known)
    context.say(`Next: rex target test ${alias}${way.transport === 'ssh' ? INSTALL(alias) : ''}`);
  return undefined;
}

const INSTALL = (alias: string): string => `; if there is no rexd yet, rex target install ${alias}`;

/** `--cwd` means the same as for every other command: the folder on the target to work in. */
function defaultCwd(context: RexContext, { defaultCwd }: AddOptions): string | undefined {
  const target: Target = { transport: 'ssh', host: '', workspaceRoots: [], defaultCwd };
  return context.folderOn({ alias: '', why: '', target });
}

function entryFrom(options: AddOptions, folder: string | undefined): Record<string, unknown> {
  const roots = options.root.map((root) => assertAbsolute('--root', root));
  const cwd = folder === undefined ? roots[0] : assertAbsolute('--cwd', folder);
  return {
    ...(roots.length > 0 && { workspaceRoots: roots }),
    ...(cwd !== undefined && { defaultCwd: cwd }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.loginShell === true && { loginShell: true }),
  };
}

export async function removeTarget(context: RexContext, args: readonly string[]): Promise<undefined> {
  const [alias = ''] = args;
  if (alias === LOCAL) throw new UsageError('"local" is this machine and cannot be removed');
  const places = targetPlaces(process.env);
  await changeTarget(places.targets, alias, (before) => {
    if (before === undefined) context.fail(`there is no target "${alias}"`, 'See: rex target list');
    return undefined;
  }).catch(async (thrown: unknown) => {
    const { targets, problems } = await readTargets(places.targets);
    const close = nearest(alias, [...Object.keys(targets), ...Object.keys(problems)]);
    if (close !== undefined && close !== alias) context.say(`rex: did you mean "${close}"?`);
    throw thrown;
  });
  await stopKeepers(process.env, alias).catch(() => 0);
  await forgetTarget(places, alias);
  context.say(`removed ${alias}; what is on the host stays as it is`);
  return undefined;
}
