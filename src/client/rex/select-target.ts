// Which target a command goes to, and why: what was said, what the project says, where we are, what was last used.

import { isAbsolute, resolve } from 'node:path';
import { LOCAL, type Target, TargetsError } from './target.js';

export interface TargetQuestion {
  readonly targets: Readonly<Record<string, Target>>;
  /** Named in the command. */
  readonly explicit?: string | undefined;
  /** Named by the project's file, with that file. */
  readonly project?: { readonly alias: string; readonly file: string } | undefined;
  /** Folders of this machine that belong to a target. */
  readonly prefixes?: Readonly<Record<string, string>> | undefined;
  readonly cwd: string;
  /** Chosen with `use`. */
  readonly carried?: string | undefined;
}

export interface TargetChoice {
  readonly alias: string;
  /** Undefined for this machine. */
  readonly target: Target | undefined;
  /** A clause for people: "because …". */
  readonly why: string;
}

/** The first that answers, in the order of the specification. Throws a TargetsError for a name that is no target. */
export function selectTarget(question: TargetQuestion): TargetChoice {
  const { explicit, project, carried } = question;
  if (explicit !== undefined) return choose(question, explicit, 'it was named');
  if (project !== undefined) return choose(question, project.alias, `${project.file} says so`);
  const prefix = longestPrefix(question);
  if (prefix !== undefined) return choose(question, prefix.alias, `${prefix.folder} belongs to it`);
  if (carried !== undefined) return choose(question, carried, 'it was chosen with "rex target use"');
  return choose(question, LOCAL, 'nothing else was said');
}

function choose({ targets }: TargetQuestion, alias: string, why: string): TargetChoice {
  if (alias === LOCAL) return { alias, target: undefined, why };
  const target = Object.hasOwn(targets, alias) ? targets[alias] : undefined;
  if (target !== undefined) return { alias, target, why };
  const known = [LOCAL, ...Object.keys(targets)].join(', ');
  throw new TargetsError(`no target "${alias}" (asked for because ${why}); there are: ${known}`);
}

function longestPrefix({
  prefixes = {},
  cwd,
}: TargetQuestion): { alias: string; folder: string } | undefined {
  return Object.entries(prefixes)
    .map(([folder, alias]) => ({ folder: resolve(folder), alias, given: folder }))
    .filter(
      ({ folder, given }) =>
        isAbsolute(given) && (cwd === folder || cwd.startsWith(`${folder === '/' ? '' : folder}/`)),
    )
    .toSorted((a, b) => b.folder.length - a.folder.length)[0];
}
