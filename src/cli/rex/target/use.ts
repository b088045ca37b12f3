// rex target use, rex target which.

import { stat } from 'node:fs/promises';
import { whereIs } from '../../../client/rex/target.js';
import { resolve } from 'node:path';
import { UsageError } from '../../flags.js';
import type { RexContext } from '../context.js';
import { carryTarget, chooseTarget, setPrefix } from './choose-target.js';
import { targetPlaces } from './places.js';
import { writeProject } from './project-file.js';

export interface UseOptions {
  readonly project?: string | true;
  readonly prefix?: string;
  readonly clear?: boolean;
}

export async function useTarget(
  context: RexContext,
  args: readonly string[],
  options: UseOptions,
): Promise<undefined> {
  const [name] = args;
  if ((name === undefined) !== (options.clear === true))
    throw new UsageError('a target, or --clear: rex target use NAME, rex target use --clear');
  if (options.project !== undefined && options.prefix !== undefined)
    throw new UsageError('--project or --prefix?');
  // A name that is no target is told now, not by the next command.
  const alias = name === undefined ? undefined : (await context.choose(name)).alias;
  const places = targetPlaces(process.env);
  const said = alias === undefined ? 'no target' : alias;
  if (options.project !== undefined) {
    const folder = resolve(options.project === true ? '.' : options.project);
    context.say(`${await writeProject(folder, alias)} says ${said} from now on`);
  } else if (options.prefix !== undefined) {
    const folder = resolve(options.prefix);
    await setPrefix(places, folder, alias);
    context.say(`${folder} belongs to ${said} from now on`);
  } else {
    await carryTarget(places, alias);
    context.say(`commands that name no target go to ${alias ?? 'this machine'} from now on`);
  }
  const now = await chooseTarget({ env: process.env, cwd: process.cwd() });
  if (alias !== undefined && options.prefix === undefined && now.alias !== alias)
    context.say(`Here they go to ${now.alias}, because ${now.why}.`);
  if (context.json) await context.outJson({ target: now.alias, why: now.why });
  return undefined;
}

export async function whichTarget(context: RexContext, args: readonly string[]): Promise<undefined> {
  const [path = '.'] = args;
  const folder = await nearestFolder(resolve(path));
  const choice =
    args.length === 0 ? await context.choose() : await chooseTarget({ env: process.env, cwd: folder });
  if (context.json)
    await context.outJson({
      target: choice.alias,
      why: choice.why,
      folder,
      host: choice.target === undefined ? null : whereIs(choice.target),
    });
  else {
    await context.out(`${choice.alias}\n`);
    context.say(`because ${choice.why}`);
  }
  return undefined;
}

/** Of a file, the folder it is in. */
async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined || found.isDirectory() ? path : resolve(path, '..');
}
