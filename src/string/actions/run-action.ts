// Runs an action: the order of things, from the words of the caller to what is shown.

import type { Capability } from '../policy.js';
import { refuseChanged } from '../packages/verify-package.js';
import { RefusedError } from '../refused.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import type { Action } from './action.js';
import { describeAction, missingFlags } from './describe-action.js';
import { UnfitValueError } from './fill-command.js';
import { UnfitRequestError } from './fill-request.js';
import { type Inputs, readInputs, unresolved } from './read-inputs.js';
import { addSetupHint } from './requirements.js';
import { UnresolvedVariableError } from './resolve-variable.js';
import { runCommandAction } from './run-command-action.js';
import { runHttpAction } from './run-http-action.js';
import { type Scene, surroundingsOf } from './scene.js';
import { splitTemplate } from './slot.js';

/** `text`: all that follows the name of the action. */
export async function runAction(scene: Scene, action: Action, text: string): Promise<CommandResult> {
  const inputs = await readInputs(action, text, surroundingsOf(scene));
  if ('ok' in inputs) return addSetupHint(scene, inputs);
  if (inputs.help || asksForSchema(action, text)) return describeAction(action);
  if (scene.trust === 'remote' && action.method === 'CLI')
    return fail(
      'FILE_NOT_ALLOWED',
      'Remote SFMD can only run HTTP actions.',
      'Commands are run for documents of this machine, and for packages that were installed.',
    );
  const capability = capabilityOf(action);
  if (!scene.policy.allows(scene.trust, capability))
    return fail(
      'POLICY_DENIED',
      `The policy of this agent does not allow it: ${capability} of ${scene.trust} pages`,
    );
  const changed = await findChanged(scene, action);
  if (changed !== undefined) return changed;
  const missing = missingFields(scene, action, inputs);
  if (missing.length > 0) return addSetupHint(scene, missingFlags(action, missing));
  if (!inputs.dryRun) noteRun(scene, action, capability);
  try {
    const run = action.method === 'CLI' ? runCommandAction : runHttpAction;
    const result = await run(scene, action, inputs);
    return result.ok ? result : addSetupHint(scene, result);
  } catch (thrown) {
    return addSetupHint(scene, explain(thrown));
  }
}

function capabilityOf({ method }: Action): Capability {
  if (method === 'CLI') return 'commands';
  return method === 'GET' ? 'get' : 'mutate';
}

function noteRun({ call, loaded, trust }: Scene, { id }: Action, what: Capability): void {
  const { runtime, session } = call;
  runtime.policy.note({
    what,
    trust,
    topic: session.topic.name,
    allowed: true,
    about: `${loaded.uri} act.${id}`,
  });
}

async function findChanged({ call, loaded, trust }: Scene, action: Action): Promise<Failure | undefined> {
  const { path, source } = loaded;
  if (trust !== 'installed' || action.method !== 'CLI' || path === undefined) return undefined;
  return await refuseChanged(call.runtime.agent.home, { path, source });
}

/** Nothing given, and something needed: then one wants to know what. `--` says that it is meant so. */
function asksForSchema({ fields }: Action, text: string): boolean {
  return text.trim() === '' && fields.some((field) => field.required && field.default === undefined);
}

/** A variable of the topic stands in for a field in the address or the command. */
function missingFields({ call }: Scene, action: Action, { values }: Inputs): string[] {
  const inTarget = new Set(
    splitTemplate(action.target).flatMap((part) => (part.kind === 'slot' ? [part.slot.name] : [])),
  );
  return action.fields
    .filter(({ name, required }) => required && !values.has(name))
    .filter(({ name }) => !(inTarget.has(name) && call.session.variables.has(name)))
    .map(({ name }) => name);
}

function explain(thrown: unknown): Failure {
  if (thrown instanceof RefusedError) return thrown.failure;
  if (thrown instanceof UnresolvedVariableError)
    return fail('INVALID_PAYLOAD', ...unresolved(thrown.variable));
  if (thrown instanceof UnfitValueError || thrown instanceof UnfitRequestError)
    return fail('INVALID_PAYLOAD', thrown.message);
  throw thrown;
}
