// rex target install, rex target uninstall: the one file, by the user's own ssh.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { VERSION } from '../../../base/version.js';
import {
  configText,
  installedCommand,
  putConfig,
  removeFile,
  uploadFile,
} from '../../../client/rex/install.js';
import { type HostFacts, nodeProblem, probeHost } from '../../../client/rex/probe-host.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import type { SshTarget } from '../../../client/rex/target.js';
import { UsageError } from '../../flags.js';
import type { RexContext } from '../context.js';
import { coloursFor } from '../../colours.js';
import { Progress, sayBytes } from '../files/progress.js';
import { endConnections } from './disconnect.js';
import { targetPlaces } from './places.js';
import { changeTarget } from './targets-file.js';
import { testTarget } from './test.js';

/** What is uploaded is held whole, to know its hash before the first byte leaves. */
export const MAX_INSTALL_BYTES = 256 * 1024 * 1024;

export interface InstallOptions {
  readonly to?: string;
  readonly binary?: string | true;
  readonly file?: string;
  readonly dryRun?: boolean;
}

interface InstallPlan {
  readonly alias: string;
  readonly target: SshTarget;
  readonly facts: HostFacts;
  readonly file: string;
  readonly bytes: Buffer;
  readonly path: string;
  readonly command: string;
  readonly roots: readonly string[];
  /** The one that is there, or undefined when one is made. */
  readonly config: string | undefined;
}

export async function installTarget(
  context: RexContext,
  args: readonly string[],
  options: InstallOptions,
): Promise<number | undefined> {
  const { alias, target } = assertRemote(await context.choose(args[0]));
  const facts = await probeHost(alias, target, { signal: context.signal });
  const plan = await planInstall(context, alias, target, facts, options);
  if (options.dryRun === true) {
    await tellPlan(context, plan);
    return undefined;
  }
  const sha256 = await upload(context, plan);
  context.say(
    `${plan.path} is there (${sayBytes(plan.bytes.length)}, sha256 ${sha256}, verified on the host)`,
  );
  if (plan.config === undefined) {
    await putConfig(target, facts.userConfig, configText(plan.roots), { signal: context.signal });
    context.say(`${facts.userConfig} gives ${plan.roots.join(', ')}`);
  } else context.say(`${plan.config} is there already and stays as it is`);
  // Where a configuration of somebody else's says what is given, the target asks for nothing in particular.
  const given = plan.config === undefined && target.workspaceRoots.length === 0;
  await changeTarget(targetPlaces(process.env).targets, alias, (before) => ({
    ...before,
    command: plan.command,
    ...(given && { workspaceRoots: plan.roots, defaultCwd: target.defaultCwd ?? plan.roots[0] }),
    installed: { path: plan.path, sha256, version: VERSION },
  }));
  await endConnections({ alias, target, why: '' });
  return await testTarget(context, [alias]);
}

export async function uninstallTarget(context: RexContext, args: readonly string[]): Promise<undefined> {
  const { alias, target } = assertRemote(await context.choose(args[0]));
  const installed = target['installed'] as { readonly path?: unknown } | undefined;
  if (typeof installed?.path !== 'string' || !installed.path.startsWith('/'))
    context.fail(
      `the rexd of ${alias} was not installed with "rex target install"`,
      'Remove it by hand, with ssh.',
    );
  await endConnections({ alias, target, why: '' });
  const removed = await removeFile(target, installed.path, { signal: context.signal });
  await changeTarget(targetPlaces(process.env).targets, alias, (before) => {
    const { installed: _gone, command: _command, ...rest } = before ?? {};
    return rest;
  });
  context.say(
    `${installed.path} ${removed ? 'is removed' : 'was not there any more'}; its config.toml stays`,
  );
  if (context.json) await context.outJson({ target: alias, path: installed.path, removed });
  return undefined;
}

function assertRemote({ alias, target }: TargetChoice): { alias: string; target: SshTarget } {
  if (target === undefined) throw new UsageError('"local" is this machine: its rexd came with rex');
  if (target.transport !== 'ssh')
    throw new UsageError(`${alias} is a daemon that runs already; rex installs by ssh`);
  return { alias, target };
}

async function planInstall(
  context: RexContext,
  alias: string,
  target: SshTarget,
  facts: HostFacts,
  options: InstallOptions,
): Promise<InstallPlan> {
  const isBinary = options.binary !== undefined;
  const problem = isBinary ? undefined : nodeProblem(facts);
  if (problem !== undefined)
    context.fail(
      `${alias}: ${problem}`,
      `Install Node 20 or newer there, or bring the single binary, which needs none: rex target install ${alias} --binary`,
    );
  if (facts.home === '') context.fail(`${alias}: the host does not say where its home folder is`);
  const file = options.file ?? findFile(context, options.binary, facts);
  const bytes = await readUpload(context, file);
  const path = posix.resolve(facts.home, (options.to ?? '.local/bin/rexd').replace(/^~(?=\/|$)/, facts.home));
  const roots = target.workspaceRoots.length > 0 ? target.workspaceRoots : [facts.home];
  if (target.workspaceRoots.length === 0 && facts.config === undefined)
    context.say(`rex: no --root was given for ${alias}: the home folder ${facts.home} is`);
  const command = installedCommand(path, facts, isBinary);
  return { alias, target, facts, file, bytes, path, command, roots, config: facts.config };
}

const PROCESSORS: Readonly<Record<string, string>> = { x86_64: 'x64', aarch64: 'arm64', arm64: 'arm64' };

/** The one file lies beside the folder of the executables; a checkout has it after a build. */
function findFile(context: RexContext, binary: string | true | undefined, { system }: HostFacts): string {
  if (typeof binary === 'string') return binary;
  const folder = join(import.meta.dirname, '..');
  if (binary === undefined) {
    const file = join(folder, 'rexd.cjs');
    return isThere(file) ? file : context.fail('the file to install is missing', 'Build it: npm run build');
  }
  const [kind = '', machine = ''] = system.split(' ');
  const file = join(folder, `rexd-${kind.toLowerCase()}-${PROCESSORS[machine] ?? machine}`);
  if (isThere(file)) return file;
  return context.fail(
    `there is no single binary for ${system}`,
    'Build it with "npm run build:rexd-binary", or name one: --binary FILE',
  );
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

async function readUpload(context: RexContext, file: string): Promise<Buffer> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return context.fail(`${file}: no such file`);
  if (found.size > MAX_INSTALL_BYTES)
    return context.fail(`${file}: ${found.size} bytes, ${MAX_INSTALL_BYTES} are allowed`);
  return await readFile(file);
}

async function upload(context: RexContext, plan: InstallPlan): Promise<string> {
  using progress =
    process.stderr.isTTY && !context.quiet
      ? new Progress({
          totalBytes: plan.bytes.length,
          totalFiles: 1,
          stream: process.stderr,
          colours: coloursFor(process.stderr),
        })
      : undefined;
  progress?.begin(plan.path);
  let sent = 0;
  const onSent = (bytes: number): void => {
    progress?.add(bytes - sent, false);
    sent = bytes;
  };
  return await uploadFile(
    plan.target,
    { bytes: plan.bytes, path: plan.path, onSent },
    { signal: context.signal },
  );
}

async function tellPlan(context: RexContext, plan: InstallPlan): Promise<void> {
  const { alias, file, bytes, path, command, roots, config, facts } = plan;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (context.json) {
    await context.outJson({
      target: alias,
      dry_run: true,
      file,
      bytes: bytes.length,
      sha256,
      path,
      command,
      roots,
      config: config ?? facts.userConfig,
      config_there: config !== undefined,
    });
    return;
  }
  const made =
    config === undefined
      ? `make ${facts.userConfig} with the folders ${roots.join(', ')}`
      : `leave ${config} as it is`;
  const node = facts.node === undefined ? 'no Node' : `Node ${facts.node.version}`;
  await context.out(
    [
      `${alias} is ${facts.system} with ${node}. This would`,
      `  put ${file} (${sayBytes(bytes.length)}, sha256 ${sha256}) to ${path}, mode 755`,
      `  ${made}`,
      `  set the command of ${alias} to: ${command}`,
      'Nothing was done.\n',
    ].join('\n'),
  );
}
