// The command policy of a configuration. It is built by the first command that is judged: reading commands takes more
// code than opening a session, and a client may never send one.

import { toError } from '../base/errors.js';
import type { CommandPolicy, CommandRules } from '../guard/command-policy.js';
import type { RexdSettings } from './settings.js';

export type PolicySource = () => Promise<CommandPolicy>;

export function policyOf(security: RexdSettings['security']): PolicySource {
  let policy: Promise<CommandPolicy> | undefined;
  return () => (policy ??= build(rulesOf(security)));
}

/** Whether there is a rule that could be written wrongly. */
export function hasCommandRules(security: RexdSettings['security']): boolean {
  const { allow_commands, deny_commands, sudo, classes } = security;
  return allow_commands.length + deny_commands.length > 0 || sudo !== undefined || classes !== undefined;
}

function rulesOf(security: RexdSettings['security']): CommandRules {
  const { allow_commands: allow, deny_commands: deny, allow_shell: allowShell, sudo, classes } = security;
  return {
    allow,
    deny,
    allowShell,
    ...(sudo !== undefined && { sudo }),
    ...(classes !== undefined && { classes }),
  };
}

async function build(rules: CommandRules): Promise<CommandPolicy> {
  const { CommandPolicy } = await import('../guard/command-policy.js');
  try {
    return new CommandPolicy(rules);
  } catch (thrown) {
    // The policy calls its lists allow and deny; whoever has to mend the file looks for the key.
    const message = toError(thrown).message.replace(/^(allow|deny)\b/, '$1_commands');
    throw new Error(message, { cause: thrown });
  }
}
