// rex target disconnect: ends the connections that are kept open for the next command.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { prepareControlFolder } from '../../../client/rex/control-folder.js';
import { sshCommand } from '../../../client/rex/ssh-command.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import type { RexContext } from '../context.js';
import { stopKeepers } from '../keep.js';

export async function disconnectTarget(context: RexContext, args: readonly string[]): Promise<undefined> {
  const choice = await context.choose(args[0]);
  const disconnected = await endConnections(choice);
  context.say(`${choice.alias}: ${disconnected ? 'disconnected' : 'no connection was kept open'}`);
  if (context.json) await context.outJson({ target: choice.alias, disconnected });
  return undefined;
}

/** True when there was one. What has changed about a target is then met by a new connection. */
export async function endConnections({ alias, target }: TargetChoice): Promise<boolean> {
  const kept = await stopKeepers(process.env, alias).catch(() => 0);
  if (target?.transport !== 'ssh') return kept > 0;
  const [program = 'ssh', ...words] = sshCommand(target, {
    command: '',
    controlFolder: prepareControlFolder(),
  });
  // ssh's own word for it, before the way to the host; the command at the end is not for this.
  const child = spawn(program, ['-O', 'exit', ...words.slice(0, -1)], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit').catch(() => [1])) as [number | null];
  return code === 0 || kept > 0;
}
