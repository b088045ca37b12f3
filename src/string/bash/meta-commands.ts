// What can be said to a bash topic beside what its shell reads: `//info`, `//send TEXT`, …

import type { Command, CommandCall } from '../command.js';
import { eventsCommand } from '../commands/events.js';
import { describeVariables } from '../commands/info.js';
import { setCommand } from '../commands/set.js';
import { sessionCommand, topicsCommand } from '../commands/topics.js';
import { type CommandResult, confirm, fail, succeed } from '../result.js';
import { follow, interrupt, SUBMISSION_TIMEOUT_MS } from './follow.js';

/** As long as a command may take. */
const MAX_WAIT_SECONDS = SUBMISSION_TIMEOUT_MS / 1000;
/** Lines that `//tail` shows unless told otherwise. */
const TAIL_LINES = 40;

const OWN: readonly Command[] = [
  meta('help', '//help', 'this list', () => succeed('Bash Session', renderHelp())),
  meta('info', '//info', 'the state of the shell', info),
  meta('send', '//send TEXT', 'type a line into the program that waits for input', send),
  meta('interrupt', '//interrupt', 'Ctrl-C', (call) => {
    const [shell, current] = running(call);
    return shell === undefined || current === undefined
      ? confirm('Nothing is running.')
      : interrupt(call, shell, current);
  }),
  meta('wait', '//wait [SECONDS]', 'wait on for the end of the command that runs', wait),
  meta('tail', '//tail [LINES]', 'the last lines that were printed', tail),
  meta('close', '//close', 'end the shell and all it has started', async ({ runtime, session }) => {
    await runtime.closeTopic(session.topic);
    return confirm('Bash session closed.');
  }),
];

/** String commands that make sense beside a shell, by two slashes. */
const SHARED: readonly Command[] = [setCommand, topicsCommand, sessionCommand, eventsCommand];

export const META_COMMANDS: ReadonlyMap<string, Command> = new Map(
  [...OWN, ...SHARED].flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name): [string, Command] => [name, command]),
  ),
);

/** These are about a command that runs, so they do not wait for its end. */
export const OUT_OF_TURN: ReadonlySet<string> = new Set([
  'help',
  'info',
  'send',
  'interrupt',
  'tail',
  'close',
  'topics',
  'sessions',
]);

function info({ runtime, session }: CommandCall): CommandResult {
  const shell = runtime.shells.get(session.topic.name);
  const rows =
    shell === undefined
      ? [`cwd: ${runtime.agent.home}`, 'pid: none (the next command starts a shell)']
      : [
          `cwd: ${shell.cwd}`,
          `pid: running (${shell.pid ?? 0})`,
          `state: ${shell.current === undefined ? 'idle' : shell.waitsForInput === true ? 'waiting_for_input' : 'running'}`,
          `last exit: ${shell.lastStatus}`,
        ];
  const variables = session.variables.size === 0 ? [] : [`vars: ${describeVariables(session.variables)}`];
  return succeed('Bash session info', [...rows, 'mode: pty', ...variables].join('\n'));
}

async function send(call: CommandCall): Promise<CommandResult> {
  const { args, body } = call.line;
  const [shell, current] = running(call);
  if (shell === undefined || current === undefined)
    return fail(
      'INVALID_TARGET',
      'Nothing is running that could be sent to.',
      'Plain text is run as a command.',
    );
  current.emit = call.emit;
  const lines = body === undefined ? [] : [body.replace(/\n$/u, '')];
  // What stands in the body alone, as a password should, is all of it.
  await shell.type(`${(args === '' && lines.length > 0 ? lines : [args, ...lines]).join('\n')}\n`);
  return await follow(call, shell, current, { signal: call.signal });
}

async function wait(call: CommandCall): Promise<CommandResult> {
  const seconds = call.line.args.trim() === '' ? MAX_WAIT_SECONDS : Number(call.line.args.trim());
  if (!(seconds > 0 && seconds <= MAX_WAIT_SECONDS))
    return fail('INVALID_PAYLOAD', `Usage: //wait [SECONDS], at most ${MAX_WAIT_SECONDS}`);
  const [shell, current] = running(call);
  if (shell === undefined || current === undefined) return confirm('Nothing is running.');
  current.emit = call.emit;
  return await follow(call, shell, current, {
    signal: call.signal,
    timeoutMs: seconds * 1000,
    endOnly: true,
  });
}

function tail({ runtime, session, line }: CommandCall): CommandResult {
  const wanted = line.args.trim() === '' ? TAIL_LINES : Number(line.args.trim());
  if (!Number.isSafeInteger(wanted) || wanted < 1) return fail('INVALID_PAYLOAD', 'Usage: //tail [LINES]');
  const shell = runtime.shells.get(session.topic.name);
  if (shell === undefined)
    return fail('INVALID_TARGET', 'There is no shell.', 'The next command starts one.');
  const recent = shell.recent().trimEnd();
  const lines = recent === '' ? [] : recent.split('\n').slice(-wanted);
  return succeed(`Last ${lines.length} lines`, lines.length === 0 ? '(no output)' : lines.join('\n'));
}

function running({ runtime, session }: CommandCall) {
  const shell = runtime.shells.get(session.topic.name);
  return [shell, shell?.current] as const;
}

function renderHelp(): string {
  const rows = [...OWN, ...SHARED].map(
    ({ usage, summary }) => [usage.replace(/^\/?\//u, '//'), summary] as const,
  );
  const width = Math.max(...rows.map(([usage]) => usage.length)) + 2;
  const list = rows.map(([usage, summary]) => `  ${usage.padEnd(width)}${summary}`).join('\n');
  return `Everything that does not begin with // goes to the shell.\n\n${list}`;
}

function meta(
  name: string,
  usage: string,
  summary: string,
  run: (call: CommandCall) => CommandResult | Promise<CommandResult>,
): Command {
  return { name, group: 'state', usage, summary, where: ['bash'], run };
}
