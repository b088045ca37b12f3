// Which server is under test: ours as built, or any other by its command line.

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin } from '../../helpers/program.js';
import { removeFolder } from '../../helpers/remove-folder.js';

/** Set by `npm run conformance -- rexd --target "…"`: the command as a JSON array of words. */
export const TARGET_VARIABLE = 'HAWSER_CONFORMANCE_TARGET';

/** What a server is told of its surroundings: two roots it may use, a folder it may not, and a config that says so. */
export interface Grounds extends Disposable {
  readonly root: string;
  readonly otherRoot: string;
  readonly outside: string;
  readonly config: string;
  /** Holds all of these. */
  readonly base: string;
  /** For what outlives a server: the user's own must not be touched. */
  readonly state: string;
}

/** What a configuration says beside the limits. `{base}` in it stands for the folder that holds all of the grounds. */
export interface MoreConfig {
  /** Lines of `[server]`. */
  readonly server?: readonly string[];
  /** Lines of `[security]`. */
  readonly security?: readonly string[];
  /** Lines at the end: more tables. */
  readonly tables?: readonly string[];
}

export function makeGrounds(limits: Readonly<Record<string, number>> = {}, more: MoreConfig = {}): Grounds {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-conformance-')));
  const [root, otherRoot, outside, config] = [
    join(base, 'app'),
    join(base, 'lib'),
    join(base, 'outside'),
    join(base, 'config.toml'),
  ];
  for (const folder of [join(root, 'sub'), otherRoot, outside]) mkdirSync(folder, { recursive: true });
  const lines = [
    '[server]',
    'stdio = true',
    'log_level = "info"',
    ...(more.server ?? []),
    '[limits]',
    ...Object.entries(limits).map(([name, value]) => `${name} = ${value}`),
    '[security]',
    ...(more.security?.some((line) => line.startsWith('allow_shell')) === true ? [] : ['allow_shell = true']),
    ...(more.security ?? []),
    ...[root, otherRoot].flatMap((path) => ['[[security.allowed_roots]]', `path = ${JSON.stringify(path)}`]),
    ...(more.tables ?? []),
  ].map((line) => line.replaceAll('{base}', base));
  writeFileSync(config, `${lines.join('\n')}\n`);
  return {
    root,
    otherRoot,
    outside,
    config,
    base,
    state: join(base, 'state'),
    [Symbol.dispose]: () => removeFolder(base),
  };
}

/** The command of the server under test; `{config}` and `{root}` in a foreign command stand for the grounds. */
export function rexdCommand(grounds: Grounds): [string, ...string[]] {
  const foreign = process.env[TARGET_VARIABLE];
  if (foreign === undefined) return [process.execPath, bin('rexd'), '--stdio', '--config', grounds.config];
  const words = JSON.parse(foreign) as [string, ...string[]];
  return words.map((word) =>
    word.replaceAll('{config}', grounds.config).replaceAll('{root}', grounds.root),
  ) as [string, ...string[]];
}

/** For what is about the command line of our own server: another one's is not known. */
export function skipForeign(skip: (reason: string) => void): void {
  if (process.env[TARGET_VARIABLE] !== undefined) skip('it is about the command line of our own server');
}
