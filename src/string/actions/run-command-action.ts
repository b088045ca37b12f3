// An action that runs a command line.

import { buildEnvironment } from '../../guard/child-environment.js';
import { LaunchError } from '../../host/process/launch-error.js';
import { type CommandResult, fail, show, succeed } from '../result.js';
import { NO_PAGER } from '../shell/shells.js';
import type { Action } from './action.js';
import { answer } from './answer.js';
import { type CommandValues, fillCommand } from './fill-command.js';
import type { Inputs } from './read-inputs.js';
import { UnresolvedVariableError } from './resolve-variable.js';
import { runCommand } from './run-command.js';
import type { Scene } from './scene.js';
import { splitTemplate } from './slot.js';
import { textOf } from './value.js';

/** Unless the action says otherwise by `timeout:`. */
export const COMMAND_ACTION_TIMEOUT_MS = 30_000;

const NO_OUTPUT = '(no output)';

export async function runCommandAction(scene: Scene, action: Action, inputs: Inputs): Promise<CommandResult> {
  const { call, folder: cwd } = scene;
  const { signal, emit, runtime, session } = call;
  const named = namedVariables(action);
  const unset = scene.needed.find(({ name }) => named.has(name) && !scene.env.has(name));
  if (unset !== undefined) throw new UnresolvedVariableError(unset.name);
  const filled = fillCommand(action.target, valuesOf(scene, action, inputs), inputs.args);
  if (inputs.dryRun) return succeed(`Dry run: ${action.id}`, `cwd: ${cwd}\n${filled.shown}`);
  if (inputs.args.some((each) => each.includes('\0')))
    return fail('INVALID_PAYLOAD', 'A command cannot be given a NUL character.');
  if (signal.aborted) return fail('CANCELLED', `Cancelled | cwd: ${cwd}`);
  const timeoutMs = action.timeoutMs ?? COMMAND_ACTION_TIMEOUT_MS;
  const template = scene.actions.responseOf(action.id);
  try {
    const run = await runCommand({
      script: filled.script,
      args: inputs.args,
      env: { ...environmentOf(scene, named), ...filled.env },
      large: filled.large,
      cwd,
      timeoutMs,
      signal,
      spoolDir: runtime.spoolDir,
      emit: template === undefined ? emit : undefined,
      apart: template !== undefined,
    });
    if (run.output.spool !== undefined) await runtime.shells.keepSpool(session.topic.name, run.output.spool);
    const shown = await run.output.text();
    const content = shown === '' ? NO_OUTPUT : shown;
    if (run.ended === 'cancelled')
      return { ok: false, code: 'CANCELLED', message: `Cancelled | cwd: ${cwd}`, content };
    if (run.ended === 'timeout')
      return {
        ok: false,
        code: 'TIMEOUT',
        message: `Timed out after ${timeoutMs / 1000} s | cwd: ${cwd}`,
        content,
      };
    const code = `EXIT_${run.status}` as const;
    if (template === undefined) return run.status === 0 ? show(content) : fail(code, content);
    const { stdout, stderr, status } = run;
    const response = {
      status,
      body: bodyOf(stdout),
      stdout: stdout.trimEnd(),
      stderr: stderr.trimEnd(),
      exit_code: status,
    };
    const answered = await answer(scene, { action, inputs, template, response, failed: status !== 0 });
    if (!answered.ok || status === 0) return answered;
    return fail(code, answered.content ?? NO_OUTPUT);
  } catch (thrown) {
    if (!(thrown instanceof LaunchError)) throw thrown;
    if (thrown.code.startsWith('cwd_')) return fail('NOT_FOUND', `Cannot run in ${cwd}: ${thrown.message}`);
    return fail(thrown.code === 'arguments_too_long' ? 'INVALID_PAYLOAD' : 'INTERNAL_ERROR', thrown.message);
  }
}

function valuesOf(
  { call, env, context }: Scene,
  action: Action,
  { values, secretDefaults, dryRun }: Inputs,
): CommandValues {
  return {
    slot: (slot) => {
      const masked = dryRun ? secretDefaults.get(slot.name) : undefined;
      const value = masked ?? values.get(slot.name) ?? call.session.variables.get(slot.name);
      if (value !== undefined) return { text: textOf(value, slot.index) };
      return action.fields.some(({ name }) => name === slot.name) ? {} : undefined;
    },
    spread: () =>
      [...values].flatMap(([name, value]) => [
        `--${name}`,
        (dryRun ? secretDefaults.get(name) : undefined) ?? textOf(value),
      ]),
    isOwn: (name) => env.has(name),
    isSet: (name) => context.has(name),
  };
}

/** Those that the command names. */
function namedVariables({ target }: Action): Set<string> {
  return new Set(splitTemplate(target).flatMap((part) => (part.kind === 'variable' ? [part.name] : [])));
}

/** What every program gets, what is known of the call, and of the app's values those that the page has named. */
function environmentOf(
  { call, env, context, needed }: Scene,
  named: ReadonlySet<string>,
): Record<string, string> {
  const asked = new Set([...named, ...needed.map(({ name }) => name)]);
  return {
    ...buildEnvironment(process.env, []),
    ...NO_PAGER,
    ...Object.fromEntries([...env].filter(([name, value]) => asked.has(name) && !value.includes('\0'))),
    ...Object.fromEntries(context),
    HOME: call.runtime.agent.home,
  };
}

function bodyOf(stdout: string): unknown {
  try {
    return JSON.parse(stdout) as unknown;
  } catch {
    return stdout.trimEnd();
  }
}
