// Whether the policy lets a command run.

import type { CommandPolicy } from '../../guard/command-policy.js';
import { rexdError } from '../errors.js';
import type { ProgramParams } from './program.js';

export function assertAllowed(
  policy: CommandPolicy,
  params: ProgramParams & { readonly env?: Readonly<Record<string, string>> | undefined },
  cwd: string,
): void {
  const settings = { cwd, env: params.env };
  const decision = policy.decide(
    params.shell
      ? { shell: true, command: params.command ?? '', ...settings }
      : { argv: params.argv ?? [], ...settings },
  );
  if (decision.allowed) return;
  const data = { class: decision.class, rule: decision.rule, reason: decision.reason };
  if (params.shell && decision.rule === 'allow_shell') {
    throw rexdError('unsupported_capability', 'Shell commands are disabled on this server; use argv', {
      capability: 'shell',
      ...data,
    });
  }
  throw rexdError('unauthorized', `The policy does not allow this command: ${decision.reason}`, data);
}
