// A path of a command line, found on its target.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix, resolve } from 'node:path';
import { RpcError, toError } from '../../../base/errors.js';
import { parsePlace, PlaceError } from '../../../client/rex/place.js';
import type { RexClient } from '../../../client/rex/rex-client.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import { TargetsError } from '../../../client/rex/target.js';
import { UsageError } from '../../flags.js';
import type { RexContext } from '../context.js';
import { FailedError } from '../../failed-error.js';

export interface OnTarget {
  readonly choice: TargetChoice;
  readonly client: RexClient;
  /** As the target is asked for it. */
  readonly path: string;
  /** Where relative paths begin; undefined: where the server begins. */
  readonly folder: string | undefined;
  /** As people are told of it. */
  readonly shown: string;
  /** The path as it was written, without its target. */
  readonly written: string;
}

/** For all paths of one command: a target that is named twice is connected to once. */
export class PathsOnTargets {
  readonly #context: RexContext;
  readonly #clients = new Map<string, Promise<RexClient>>();
  readonly #homes = new Map<string, Promise<string>>();

  constructor(context: RexContext) {
    this.#context = context;
  }

  async find(text: string): Promise<OnTarget> {
    const place = readPlace(text);
    const choice = await this.#context
      .choose(place.alias === '' ? undefined : place.alias)
      .catch((thrown: unknown) => {
        throw thrown instanceof TargetsError ? explainColon(text, thrown) : thrown;
      });
    const client = await this.connect(choice);
    const folder = this.#context.folderOn(choice);
    const path = await this.#locate(place.path, folder, choice, client);
    const shown = choice.target === undefined ? place.path : `${choice.alias}:${place.path}`;
    return { choice, client, folder, path, shown, written: place.path };
  }

  connect(choice: TargetChoice): Promise<RexClient> {
    const known = this.#clients.get(choice.alias);
    if (known !== undefined) return known;
    const client = this.#context.connect(choice);
    this.#clients.set(choice.alias, client);
    return client;
  }

  async #locate(
    path: string,
    folder: string | undefined,
    choice: TargetChoice,
    client: RexClient,
  ): Promise<string> {
    if (path === '~' || path.startsWith('~/')) {
      const home = this.#homes.get(choice.alias) ?? homeOf(choice, client);
      this.#homes.set(choice.alias, home);
      return `${await home}${path.slice(1)}`;
    }
    if (choice.target === undefined) return resolve(folder ?? '.', path);
    return folder === undefined || posix.isAbsolute(path) ? path : posix.join(folder, path);
  }
}

async function homeOf({ alias, target }: TargetChoice, client: RexClient): Promise<string> {
  if (target === undefined) return homedir();
  if (typeof target['homeDir'] === 'string') return target['homeDir'];
  const { stdout } = await client.run({ argv: ['printenv', 'HOME'] });
  const home = stdout.toString('utf8').trim();
  if (!home.startsWith('/'))
    throw new FailedError(`${alias} does not say where "~" is`, 'Write the whole path.');
  return home;
}

export function readPlace(text: string): ReturnType<typeof parsePlace> {
  try {
    return parsePlace(text);
  } catch (thrown) {
    throw thrown instanceof PlaceError ? new UsageError(thrown.message) : thrown;
  }
}

/** The name of a file may have a colon, and then reads like a target. */
function explainColon(text: string, error: TargetsError): Error {
  return existsSync(text)
    ? new FailedError(error.message, `For the file here with this name, write: ./${text}`)
    : error;
}

interface ErrorFacts {
  readonly allowed_roots?: readonly string[];
  readonly current?: { readonly mtime: number; readonly sha256?: string } | null;
  readonly errno?: string;
}

/** What a server says of a path, with the path, and what its user can do about it. Others pass as they are. */
export function explainPath(shown: string, thrown: unknown): Error {
  if (!(thrown instanceof RpcError)) return toError(thrown);
  const facts = (typeof thrown.data === 'object' && thrown.data !== null ? thrown.data : {}) as ErrorFacts;
  return new FailedError(`${shown}: ${thrown.message}`, hintFor(thrown.code, facts));
}

function hintFor(code: number, { allowed_roots: roots, current, errno }: ErrorFacts): string | undefined {
  if (code === -32002 && roots !== undefined)
    return roots.length === 0
      ? 'No folder is allowed there: give rexd roots in its config.toml, or with --root.'
      : `Allowed there: ${roots.join(', ')}`;
  if (code === -32006 && current !== undefined)
    return current === null
      ? 'It is not there any more; nothing was written.'
      : `Somebody has changed it since (sha256 now ${current.sha256 ?? 'unknown'}); nothing was written.`;
  if (errno === 'ENOSPC' || errno === 'EDQUOT')
    return 'The disk there is full; nothing was left half-written.';
  return undefined;
}
