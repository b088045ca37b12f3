// `string new app|tool NAME`: the first files of a package, in the folder that we are in.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import { isPackageName, scaffoldOf } from '../../string/lint/scaffold.js';
import { UsageError } from '../flags.js';
import { type StringCommand, suggest } from './command.js';

export const newCommand: StringCommand = async (context, [, kind, name, extra]) => {
  if (kind !== 'app' && kind !== 'tool')
    throw new UsageError(
      `string new app|tool NAME${kind === undefined ? '' : `: there is no "${kind}"${suggest(kind, ['app', 'tool'])}`}`,
    );
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
  if (name === undefined || !isPackageName(name))
    throw new UsageError(`string new ${kind} NAME: letters, digits, - and _, at most 64`);
  const files = scaffoldOf(kind, name);
  const there = files.find(({ path }) => existsSync(path));
  if (there !== undefined) context.fail(`${there.path} is there already`, 'choose another name');
  for (const { path, text } of files)
    write(path, text, (why) => context.fail(`cannot write ${path}: ${why}`));
  const [first] = files;
  const source = kind === 'app' ? name : (first?.path ?? name);
  const made = files.map(({ path }) => path);
  if (context.json) return await context.print(JSON.stringify({ ok: true, kind, name, files: made }));
  return await context.print(
    [
      ...made.map((path) => `made ${path}`),
      '',
      'next:',
      `  string lint ${first?.path ?? ''}`,
      `  string '/install ${process.cwd()}/${source}'`,
      `  string '${kind === 'app' ? `/open app:${name}` : `/tool:${name} hello`}'`,
      '',
      'An agent installs from its home and from paths it was given: string agent add ID --allow PATH',
    ].join('\n'),
  );
};

/** Never over something that is there. */
function write(path: string, text: string, fail: (why: string) => never): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
  } catch (thrown) {
    fail(errnoOf(thrown) ?? 'it cannot be made');
  }
}
