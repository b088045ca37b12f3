// rex keep: the connections that are kept open between calls; and the process that keeps them.

import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { LocalError } from '../../base/errors.js';
import { AddressInUseError } from '../../wire/transport/socket-path.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { askKeeper } from './keeper/borrow.js';
import { readFirstLine } from './keeper/first-line.js';
import type { KeeperSpec } from './keeper/spec.js';
import type { KeeperStatus } from './keeper/words.js';
import { keepIdleMs } from './keeper/idle-time.js';
import { privateFolder } from './private-folder.js';

interface KeepOptions {
  readonly stop?: boolean;
  readonly ready?: boolean;
  readonly serve?: boolean;
}

export const keepCommand: RexCommand = {
  examples: [
    ['rex keep', 'see which connections are kept open'],
    ['rex keep --stop', 'close them all'],
    ['rex keep server-a --stop', 'close those to one target'],
  ],
  define: (command, run) => {
    command
      .argument('[target]', 'only those to this target')
      .option('--stop', 'close them')
      .action(run(keep));
    command.addOption(command.createOption('--ready', 'fail unless one waits for the next call').hideHelp());
    command.addOption(
      command.createOption('--serve', 'be a keeper, of what is told on standard input').hideHelp(),
    );
    command.addHelpText(
      'after',
      '\nREX_KEEP says how long one is kept that nobody uses: 10m, or 0 for not at all.',
    );
  },
};

async function keep(context: RexContext, [alias]: readonly string[], options: KeepOptions): Promise<number> {
  if (options.serve === true) return await serve(await readSpec());
  const folder = privateFolder(process.env);
  if (folder === undefined)
    context.fail('nothing is kept: there is no folder for it that is yours alone', 'Set XDG_RUNTIME_DIR.');
  const { found, silent } = await findKeepers(folder, alias);
  if (options.stop === true) await stopAll(found);
  for (const socket of silent) {
    if (options.stop === true) rmSync(socket, { force: true }); // it ends itself when it finds that out
    context.warn(`rex: ${basename(socket)}: a keeper that does not answer`);
  }
  if (options.ready === true) return found.some(({ status }) => status.idle > 0) ? 0 : 1;
  const shown = found.map(({ status }) => ({ ...status, stopped: options.stop === true }));
  if (context.json) await context.outJson(shown);
  else
    for (const { alias: name, pid, idle, used, stopped } of shown)
      await context.out(
        `${name}\tpid ${pid}\t${idle} open\tused ${used} times${stopped ? '\tstopped' : ''}\n`,
      );
  if (shown.length === 0 && !context.json) context.say('nothing is kept');
  return 0;
}

/** Ends the keepers of a target, or all: what has changed on the other side is then met by a new connection. */
export async function stopKeepers(env: NodeJS.ProcessEnv, alias?: string): Promise<number> {
  const folder = privateFolder(env);
  if (folder === undefined) return 0;
  const { found, silent } = await findKeepers(folder, alias);
  await stopAll(found);
  for (const socket of silent) rmSync(socket, { force: true });
  return found.length + silent.length;
}

interface Found {
  readonly socket: string;
  readonly status: KeeperStatus;
}

interface AllFound {
  readonly found: readonly Found[];
  /** Sockets of those who do not answer, whatever they keep. */
  readonly silent: readonly string[];
}

async function findKeepers(folder: string, alias: string | undefined): Promise<AllFound> {
  const found: Found[] = [];
  const silent: string[] = [];
  const sockets = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSocket());
  await Promise.all(
    sockets.map(async ({ name }) => {
      const socket = join(folder, name);
      const answer = await askKeeper(socket, { want: 'status' });
      if (answer === 'silent') silent.push(socket);
      if (answer === undefined || answer === 'silent') return;
      answer.socket.destroy();
      if ('status' in answer.reply) found.push({ socket, status: answer.reply.status });
    }),
  );
  return { found: found.filter(({ status }) => alias === undefined || status.alias === alias), silent };
}

async function stopAll(found: readonly Found[]): Promise<void> {
  await Promise.all(
    found.map(async ({ socket }) => {
      const answer = await askKeeper(socket, { want: 'stop' });
      if (typeof answer === 'object') answer.socket.destroy();
    }),
  );
}

/** From the call that has started us. */
async function readSpec(): Promise<KeeperSpec> {
  const line = await readFirstLine(process.stdin);
  process.stdin.destroy();
  return JSON.parse(line) as KeeperSpec;
}

async function serve(spec: KeeperSpec): Promise<number> {
  const { Keeper } = await import('./keeper/keeper.js');
  try {
    await using keeper = await Keeper.open(spec, keepIdleMs(process.env));
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      process.on(signal, () => void keeper.close());
    await new Promise<void>((resolve) =>
      keeper.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    return 0;
  } catch (thrown) {
    if (thrown instanceof AddressInUseError) return 0; // another was faster
    if (thrown instanceof LocalError) return 1;
    throw thrown;
  }
}
