// The built rex in a home of its own, which keeps nothing, beside a stand-in for ssh and the folder that is its far side.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin } from './program.js';
import { removeFolder } from './remove-folder.js';

export interface Ran {
  readonly code: number | null;
  readonly stdout: Buffer;
  /** The same as text. */
  readonly out: string;
  readonly err: string;
}

export interface RexBySsh extends Disposable {
  readonly folder: string;
  /** Where rex is called. */
  readonly here: string;
  readonly far: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs rex to its end. */
  readonly rex: (
    args: readonly string[],
    options?: { input?: string | Buffer; env?: NodeJS.ProcessEnv },
  ) => Promise<Ran>;
  /** Starts it, to be cut short. */
  readonly start: (args: readonly string[], env?: NodeJS.ProcessEnv) => ChildProcessWithoutNullStreams;
}

/** `ssh`: the text of a program that stands in for it. */
export function rexBySsh(ssh: string): RexBySsh {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-rex-by-ssh-')));
  const [here, far] = [join(folder, 'here'), join(folder, 'far')];
  for (const each of ['bin', 'here', 'far']) mkdirSync(join(folder, each));
  writeFileSync(join(folder, 'bin/ssh'), ssh, { mode: 0o755 });
  const env = {
    ...process.env,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_STATE_HOME: join(folder, 'state'),
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    NO_COLOR: '1',
  };
  const start: RexBySsh['start'] = (args, more = {}) =>
    spawn(process.execPath, [bin('rex'), '--no-keep', ...args], { cwd: here, env: { ...env, ...more } });
  return {
    folder,
    here,
    far,
    env,
    start,
    rex: (args, options = {}) => finish(start(args, options.env), options.input ?? ''),
    [Symbol.dispose]: () => removeFolder(folder),
  };
}

async function finish(child: ChildProcessWithoutNullStreams, input: string | Buffer): Promise<Ran> {
  const parts: Buffer[] = [];
  let err = '';
  child.stdout.on('data', (bytes: Buffer) => parts.push(bytes));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => {}); // rex may end without having read it
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  const stdout = Buffer.concat(parts);
  return { code, stdout, out: stdout.toString('utf8'), err };
}
