// `.rexd.json` of a project: which target its commands go to.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { errnoOf } from '../../../base/errors.js';
import { describeIssues, sayIssue } from '../../../base/schema-issues.js';
import { JsonStore } from '../../../host/store/json-store.js';
import { TargetsError } from '../../../client/rex/target.js';
import { lineOfJson } from './json-line.js';

export const PROJECT_FILE = '.rexd.json';
/** It holds a name; a larger one is something else. */
export const MAX_PROJECT_BYTES = 64 * 1024;

/** Loose: a project may keep more in it. */
const Project = z.looseObject({ target: z.optional(z.string().check(z.minLength(1))) });

export interface ProjectChoice {
  readonly alias: string;
  readonly file: string;
}

/** The nearest one, from `folder` upwards, that names a target. */
export async function findProject(folder: string): Promise<ProjectChoice | undefined> {
  const file = join(folder, PROJECT_FILE);
  const alias = await readAlias(file);
  if (alias !== undefined) return { alias, file };
  const above = dirname(folder);
  return above === folder ? undefined : await findProject(above);
}

/** Undefined takes the target out of the file. */
export async function writeProject(folder: string, alias: string | undefined): Promise<string> {
  const file = join(folder, PROJECT_FILE);
  const store = new JsonStore<Record<string, unknown>>({
    path: file,
    schema: z.looseObject({}),
    initial: () => ({}),
    maxBytes: MAX_PROJECT_BYTES,
  });
  await store.update(({ target: _before, ...rest }) =>
    alias === undefined ? rest : { ...rest, target: alias },
  );
  return file;
}

async function readAlias(file: string): Promise<string | undefined> {
  const text = await readOwn(file);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TargetsError(`${file}: is no JSON`, cause);
  }
  const checked = z.safeParse(Project, value);
  if (checked.success) return checked.data.target;
  const [issue] = describeIssues(checked.error.issues, value);
  throw new TargetsError(
    `${file}, line ${lineOfJson(text, ['target'])}: ${issue === undefined ? 'is not valid' : sayIssue(issue, '')}`,
  );
}

/** A file that another user has put above us, in /tmp say, does not tell where our commands go. */
async function readOwn(file: string): Promise<string | undefined> {
  try {
    await using opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await opened.stat();
    const own = process.getuid?.() ?? stat.uid;
    if (!stat.isFile() || (stat.uid !== own && stat.uid !== 0)) return undefined;
    if (stat.size > MAX_PROJECT_BYTES)
      throw new TargetsError(`${file}: ${stat.size} bytes, ${MAX_PROJECT_BYTES} are allowed`);
    return await opened.readFile('utf8');
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(errnoOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
}
