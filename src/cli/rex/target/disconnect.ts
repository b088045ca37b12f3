// rex target disconnect: ends the connections that are kept open for the next command.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { sshCommand } from '../../../client/rex/ssh-command.js';
import type { RexContext } from '../context.js';

export async function disconnectTarget(context: RexContext, args: readonly string[]): Promise<undefined> {
  const { alias, target } = await context.choose(args[0]);
  let closed = false;
  if (target !== undefined) {
    const [program = 'ssh', ...words] = sshCommand(target, { command: '' });
    // ssh's own word for it; the command at the end is not for this.
    const child = spawn(program, ['-O', 'exit', ...words.slice(0, -1)], { stdio: 'ignore' });
    const [code] = (await once(child, 'exit').catch(() => [1])) as [number | null];
    closed = code === 0;
  }
  context.say(closed ? `${alias}: disconnected` : `${alias}: no connection was kept open`);
  if (context.json) await context.outJson({ target: alias, disconnected: closed });
  return undefined;
}
