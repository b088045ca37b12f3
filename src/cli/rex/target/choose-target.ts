// Which target a command goes to, from all that is written down: the list, the project, the folders, what was last used.

import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { JsonStore } from '../../../host/store/json-store.js';
import { selectTarget, type TargetChoice } from '../../../client/rex/select-target.js';
import { type Target, TargetsError } from '../../../client/rex/target.js';
import { type TargetPlaces, targetPlaces } from './places.js';
import { findProject } from './project-file.js';
import { readTargets, type TargetList } from './targets-file.js';

/** Folders that belong to a target; each is held against the working folder. */
export const MAX_PREFIXES = 1024;
const MAX_OWN_BYTES = 1024 * 1024;

const Settings = z.looseObject({ prefixes: z._default(z.record(z.string(), z.string()), {}) });
type Settings = z.output<typeof Settings>;
const State = z.looseObject({ use: z.optional(z.string()) });
type State = z.output<typeof State>;

export interface ChoiceInput {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Named in the command. */
  readonly explicit?: string | undefined;
}

/** Throws a TargetsError for a name that is no target, or one that cannot be used. */
export async function chooseTarget(input: ChoiceInput): Promise<TargetChoice> {
  const places = targetPlaces(input.env);
  const list = await readTargets(places.targets);
  return await chooseFrom(list, places, input);
}

export async function chooseFrom(
  list: TargetList,
  places: TargetPlaces,
  { cwd, explicit }: ChoiceInput,
): Promise<TargetChoice> {
  const unusable = Object.fromEntries(Object.keys(list.problems).map((alias) => [alias, UNUSABLE]));
  const base = { targets: { ...unusable, ...list.targets }, cwd: resolve(cwd) };
  const choice = selectTarget(
    explicit === undefined
      ? {
          ...base,
          project: await findProject(base.cwd),
          prefixes: await readPrefixes(places),
          carried: await carriedTarget(places),
        }
      : { ...base, explicit },
  );
  const problem = Object.hasOwn(list.problems, choice.alias) ? list.problems[choice.alias] : undefined;
  if (problem !== undefined) throw new TargetsError(problem);
  return choice;
}

/** Stands for an entry that cannot be used, so that it is found by its name and its own problem is told. */
const UNUSABLE: Target = { transport: 'ssh', host: '-', workspaceRoots: [] };

/** What `use` has chosen; undefined when nothing is carried over. */
export async function carriedTarget(places: TargetPlaces): Promise<string | undefined> {
  return (await stateStore(places).read()).use;
}

export async function carryTarget(places: TargetPlaces, alias: string | undefined): Promise<void> {
  await stateStore(places).update(({ use: _before, ...rest }) =>
    alias === undefined ? rest : { ...rest, use: alias },
  );
}

export async function readPrefixes(places: TargetPlaces): Promise<Readonly<Record<string, string>>> {
  return (await settingsStore(places).read()).prefixes;
}

/** From now on the folder belongs to the target; undefined: to none. */
export async function setPrefix(
  places: TargetPlaces,
  folder: string,
  alias: string | undefined,
): Promise<void> {
  await settingsStore(places).update((settings) => {
    const { [folder]: _before, ...others } = settings.prefixes;
    const prefixes = alias === undefined ? others : { ...others, [folder]: alias };
    if (Object.keys(prefixes).length > MAX_PREFIXES)
      throw new TargetsError(`${places.settings}: more than ${MAX_PREFIXES} prefixes`);
    return { ...settings, prefixes };
  });
}

/** A target that is gone is not pointed at by anything of ours. */
export async function forgetTarget(places: TargetPlaces, alias: string): Promise<void> {
  if ((await carriedTarget(places)) === alias) await carryTarget(places, undefined);
  for (const [folder, owner] of Object.entries(await readPrefixes(places)))
    if (owner === alias) await setPrefix(places, folder, undefined);
}

function settingsStore(places: TargetPlaces): JsonStore<Settings> {
  return new JsonStore<Settings>({
    path: places.settings,
    schema: Settings,
    initial: () => ({ prefixes: {} }),
    maxBytes: MAX_OWN_BYTES,
  });
}

function stateStore(places: TargetPlaces): JsonStore<State> {
  return new JsonStore<State>({
    path: places.state,
    schema: State,
    initial: () => ({}),
    maxBytes: MAX_OWN_BYTES,
  });
}
