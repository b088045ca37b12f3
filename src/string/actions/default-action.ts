// The action that a page is opened with: what it shows stands below the page. A page from the web has none.

import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import type { Trust } from '../policy.js';
import { RefusedError } from '../refused.js';
import type { CommandResult } from '../result.js';
import { runAction } from './run-action.js';
import { openScene } from './scene.js';

/** What it shows; undefined when there is none, or it failed: to look at a page is not to ask for what it does. */
export async function runDefaultAction(
  call: Omit<CommandCall, 'line'>,
  loaded: LoadedPage,
): Promise<string | undefined> {
  const id = loaded.page.frontmatter.default;
  if (id === undefined || call.session.document?.block != null) return undefined;
  const result = loaded.remote ? skip(call, loaded, 'remote') : await run(call, loaded, id);
  return result?.ok === true
    ? [result.system, result.content].filter((part) => part !== undefined).join('\n')
    : undefined;
}

async function run(
  call: Omit<CommandCall, 'line'>,
  loaded: LoadedPage,
  id: string,
): Promise<CommandResult | undefined> {
  try {
    const scene = await openScene({ ...call, emit: undefined }, loaded);
    const action = scene.actions.find(id);
    if (action === undefined || action.fields.some((field) => field.required && field.default === undefined))
      return undefined;
    if (!scene.policy.allows(scene.trust, 'autorun')) return skip(call, loaded, scene.trust);
    return await runAction(scene, action, '');
  } catch (thrown) {
    if (thrown instanceof RefusedError) return thrown.failure;
    throw thrown;
  }
}

function skip({ runtime, session }: Omit<CommandCall, 'line'>, { uri }: LoadedPage, trust: Trust): undefined {
  runtime.policy.note({ what: 'autorun', trust, topic: session.topic.name, allowed: false, about: uri });
}
