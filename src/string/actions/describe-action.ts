// What a caller is told of an action: its name and its options. Not where it leads, nor by what.

import { fail, type Failure, succeed, type Success } from '../result.js';
import type { Action, Field } from './action.js';

const NO_FLAGS = '   (no flags)';

/** `/act`: all of them. */
export function describeActions(actions: readonly Action[], prefix = '/act.'): Success {
  if (actions.length === 0) return succeed('No actions defined on this page.');
  return succeed('Actions', actions.map((action) => `${prefix}${action.id}\n${flagsOf(action)}`).join('\n'));
}

/** `/act.x --help`. */
export function describeAction(action: Action): Success {
  return succeed(`Action: ${action.id}`, flagsOf(action));
}

export function missingFlags(action: Action, missing: readonly string[]): Failure {
  return fail(
    'INVALID_PAYLOAD',
    `Missing required flags: ${missing.join(', ')}`,
    'Usage:',
    ...linesOf(action),
  );
}

function flagsOf(action: Action): string {
  return action.fields.length === 0 ? NO_FLAGS : linesOf(action).join('\n');
}

function linesOf({ fields }: Action): string[] {
  return fields.map((field) => `   ${signatureOf(field)}`);
}

function signatureOf({ name, short, type, required, description, choices }: Field): string {
  const letter = short === undefined ? '' : `-${short}, `;
  const kind = choices === undefined ? type : choices.join('|');
  const about = description === undefined || description === '' ? '' : ` — ${description}`;
  return `${letter}--${name} <${kind}> (${required ? 'required' : 'optional'})${about}`;
}
