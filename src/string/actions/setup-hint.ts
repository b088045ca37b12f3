// Where a page says how it is set up: told whenever one of its actions fails.

import { requirementsOf } from '../document/hints.js';
import type { Failure } from '../result.js';
import type { Scene } from './scene.js';

export function addSetupHint({ call, loaded }: Scene, failure: Failure): Failure {
  const path = failure.code === 'CANCELLED' ? undefined : requirementsOf(call, loaded);
  if (path === undefined) return failure;
  const hint = `Setup info: /open ${path}`;
  if (failure.content !== undefined) return { ...failure, content: `${failure.content}\n\n${hint}` };
  return { ...failure, context: [...(failure.context ?? []), '', hint] };
}
