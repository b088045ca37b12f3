// rex target test: step by step what works on the way to a target, and in plain words what does not.

import { errnoOf, LocalError, RpcError, toError } from '../../../base/errors.js';
import { VERSION } from '../../../base/version.js';
import { connectTarget } from '../../../client/rex/connect-target.js';
import { ConnectError } from '../../../client/rex/explain-failure.js';
import { type HostFacts, nodeProblem, probeHost } from '../../../client/rex/probe-host.js';
import type { RexClient } from '../../../client/rex/rex-client.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import { EXIT } from '../../exit-codes.js';
import type { RexContext } from '../context.js';
import { coloursFor, printable } from '../../colours.js';
import { localRexdCommand } from '../local-rexd.js';
import { type Step, type Tell, tellMeans, tellNoDaemon, tellWay } from './test-daemon.js';

export async function testTarget(context: RexContext, args: readonly string[]): Promise<number> {
  const choice = await context.choose(args[0]);
  const steps: Step[] = [];
  const colours = coloursFor(process.stdout);
  const tell = async (step: Step): Promise<void> => {
    steps.push(step);
    if (context.json) return;
    const mark =
      step.ok === undefined ? colours.yellow('!') : step.ok ? colours.green('✓') : colours.red('✗');
    await context.out(`${mark} ${step.step}: ${printable(step.says)}\n`);
    if (step.advice !== undefined) await context.out(`  → ${step.advice}\n`);
  };
  if (!context.json) await context.out(`${choice.alias} (because ${choice.why})\n`);
  const ok = await walk(context, choice, tell);
  if (context.json) await context.outJson({ target: choice.alias, ok, steps });
  else if (ok) context.say(`${choice.alias} works`);
  return ok ? EXIT.ok : EXIT.failed;
}

async function walk(context: RexContext, choice: TargetChoice, tell: Tell): Promise<boolean> {
  const { alias, target } = choice;
  let facts: HostFacts | undefined;
  if (target?.transport === 'ssh') {
    try {
      // By a way of its own: one that is kept open would hide what has gone wrong since.
      facts = await probeHost(alias, target, { signal: context.signal, controlFolder: false });
    } catch (thrown) {
      for (const step of stepsTo(alias, target.host, thrown)) await tell(step);
      return false;
    }
    for (const step of WAY) await tell({ step: step.name, ok: true, says: step.works(target.host) });
    await tellNoise(facts, tell);
  }
  if (target !== undefined && target.transport !== 'ssh' && !(await tellMeans(target, tell))) return false;
  let client: RexClient;
  try {
    client = await connectTarget(choice, {
      clientName: 'rex',
      clientVersion: VERSION,
      localCommand: localRexdCommand(process.env),
      shareConnection: false,
      signal: context.signal,
    });
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (target !== undefined && target.transport !== 'ssh') return await tellNoDaemon(choice, thrown, tell);
    await tellNoServer(alias, thrown, facts, tell);
    return false;
  }
  try {
    if (facts !== undefined) await tellNode(facts, tell);
    if (target !== undefined && target.transport !== 'ssh') await tellWay(target, tell);
    return await tellSession(client, choice, tell);
  } finally {
    await client.close();
  }
}

interface WayStep {
  readonly name: string;
  readonly works: (host: string) => string;
  /** What has failed when it is this. */
  readonly fails: (reason: string, message: string) => boolean;
}

const RESOLVE = /could not resolve/i;

/** In the order in which a connection comes about: when one has failed, those before it have not. */
const WAY: readonly WayStep[] = [
  { name: 'ssh', works: () => 'is installed', fails: (reason) => reason === 'no_ssh' },
  { name: 'configuration', works: () => 'ssh accepts it', fails: (reason) => reason === 'ssh_config' },
  {
    name: 'name',
    works: (host) => `${host} is known`,
    fails: (reason, message) => reason === 'unreachable' && RESOLVE.test(message),
  },
  { name: 'network', works: () => 'the host answers', fails: (reason) => reason === 'unreachable' },
  { name: 'host key', works: () => 'is the one that ssh knows', fails: (reason) => reason === 'host_key' },
  { name: 'login', works: () => 'without a question', fails: (reason) => reason === 'not_authorised' },
  { name: 'shell', works: () => 'runs commands', fails: () => true },
];

function stepsTo(alias: string, host: string, thrown: unknown): Step[] {
  if (!(thrown instanceof LocalError) && errnoOf(thrown) === undefined) throw toError(thrown);
  const error = toError(thrown);
  const reason = error instanceof ConnectError ? error.reason : 'failed';
  const slow = error.cause instanceof LocalError && error.cause.code === 'too_slow';
  const at = slow ? 3 : WAY.findIndex((step) => step.fails(reason, error.message));
  const why = error.message.replace(`cannot connect to ${alias}: `, '');
  const passed = WAY.slice(0, at).map(({ name, works }) => ({ step: name, ok: true, says: works(host) }));
  const advice = ADVICE[reason];
  return [
    ...passed,
    { step: WAY[at]?.name ?? 'shell', ok: false, says: why, ...(advice !== undefined && { advice }) },
  ];
}

const ADVICE: Readonly<Record<string, string>> = {
  no_ssh: 'Install the client of OpenSSH; on Debian: apt install openssh-client',
  ssh_config: 'Look at ~/.ssh/config, and at the sshOptions of this target in "rex target show".',
  unreachable: 'Try "ssh" with the same host; if that works, look at port and sshOptions of this target.',
  host_key:
    'Connect once with "ssh", compare the fingerprint it shows with the one of the host, and accept it.',
  not_authorised:
    'Put your key there with "ssh-copy-id", load it with "ssh-add", or name it with --identity.',
};

/** Where a shell reads what it then prints, whoever is there. */
const RC_FILES: Readonly<Record<string, string>> = {
  bash: '~/.bashrc, or what it sources',
  zsh: '~/.zshenv',
  fish: '~/.config/fish/config.fish',
  csh: '~/.cshrc',
  tcsh: '~/.tcshrc or ~/.cshrc',
};

async function tellNoise({ noise, shell }: HostFacts, tell: Tell): Promise<void> {
  if (noise === '') return;
  const name = shell.split('/').at(-1) ?? '';
  await tell({
    step: 'noise',
    ok: undefined,
    says: `the login prints ${Buffer.byteLength(noise)} bytes although nobody asked: ${JSON.stringify(noise.slice(0, 120))}`,
    advice: `It is passed over up to 64 KiB, but other programs trip over it: silence ${RC_FILES[name] ?? 'the rc files of its shell'} where no terminal is.`,
  });
}

async function tellNode(facts: HostFacts, tell: Tell): Promise<void> {
  const problem = nodeProblem(facts);
  if (problem === undefined)
    await tell({ step: 'node', ok: true, says: `${facts.node?.version} (${facts.node?.path})` });
  else await tell({ step: 'node', ok: undefined, says: `${problem}; this rexd runs without it` });
}

async function tellNoServer(
  alias: string,
  thrown: unknown,
  facts: HostFacts | undefined,
  tell: Tell,
): Promise<void> {
  if (!(thrown instanceof ConnectError)) throw thrown;
  const says = thrown.message.replace(/^cannot connect to [^:]*: /, '');
  const problem = facts === undefined ? undefined : nodeProblem(facts);
  if (thrown.reason === 'roots') {
    await tell({ step: 'rexd', ok: true, says: 'is there and answers' });
    await tell({
      step: 'roots',
      ok: false,
      says,
      advice: `Give these folders in ${facts?.config ?? facts?.userConfig ?? 'the configuration of rexd'}, or change those of the target.`,
    });
    return;
  }
  if (problem !== undefined)
    await tell({ step: 'node', ok: thrown.reason === 'no_node' ? false : undefined, says: problem });
  const install =
    problem === undefined
      ? `Bring it there: rex target install ${alias}`
      : `Install Node 20 or newer there, or bring the single binary: rex target install ${alias} --binary`;
  const missing = thrown.reason === 'no_rexd' || thrown.reason === 'no_node';
  await tell({ step: 'rexd', ok: false, says, ...(missing && facts !== undefined && { advice: install }) });
}

async function tellSession(client: RexClient, choice: TargetChoice, tell: Tell): Promise<boolean> {
  const { session } = client;
  const { protocol, server_version: version, capabilities, workspace_roots: granted } = session;
  await tell({
    step: 'rexd',
    ok: true,
    says: `speaks ${protocol}, says version ${version}, offers ${capabilities.join(', ')}`,
  });
  if (granted.length === 0) {
    const advice = 'Give it folders with --root, or allowed_roots in its config.toml.';
    await tell({
      step: 'roots',
      ok: false,
      says: 'no folder is allowed, so no path and no command is',
      advice,
    });
    return false;
  }
  const wanted = choice.target?.workspaceRoots ?? [];
  const folders = [...new Set([...granted, ...wanted])];
  let good = true;
  for (const folder of folders) good = (await tellFolder(client, 'roots', folder, tell)) && good;
  const cwd = choice.target?.defaultCwd;
  if (cwd !== undefined && !folders.includes(cwd))
    good = (await tellFolder(client, 'folder', cwd, tell)) && good;
  return good;
}

async function tellFolder(client: RexClient, step: string, folder: string, tell: Tell): Promise<boolean> {
  try {
    const found = await client.request('fs.stat', { path: folder });
    const isFolder = found.exists && (found.type === 'dir' || found.type === 'symlink');
    const says = isFolder ? folder : `${folder} is ${found.exists ? 'no folder' : 'not there'}`;
    await tell({
      step,
      ok: isFolder,
      says,
      ...(!isFolder && { advice: `Make it there: mkdir -p ${folder}` }),
    });
    return isFolder;
  } catch (thrown) {
    if (!(thrown instanceof RpcError)) throw thrown;
    await tell({ step, ok: false, says: `${folder}: ${thrown.message}` });
    return false;
  }
}
