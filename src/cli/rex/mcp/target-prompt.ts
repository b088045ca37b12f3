// The prompt `target`: how a person sees and chooses, by a slash command, where the tools work. No model can call it.

import type { Prompt } from '../../../mcp/prompt.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import { whereIs } from '../../../client/rex/target.js';
import type { CurrentTarget } from './current-target.js';

/** Goes back to what the project, the folder or `rex target use` says. */
const AUTO = 'auto';

export function targetPrompt(current: CurrentTarget, aliases: () => Promise<readonly string[]>): Prompt {
  return {
    name: 'target',
    title: 'Choose the target',
    description: 'Show or choose the machine that the tools work on',
    arguments: [
      {
        name: 'name',
        description: `A target; "${AUTO}" for the one of the project or of rex target use; empty to show`,
        complete: async (begun) => [...(await aliases()), AUTO].filter((alias) => alias.startsWith(begun)),
      },
    ],
    get: async ({ name = '' }) => {
      const known = await aliases();
      const asked = name.trim();
      if (asked === '') {
        const choice = await current.which();
        return `The tools work on ${say(choice)}, because ${choice.why}. There are: ${known.join(', ')}.`;
      }
      const choice = await current.use(asked === AUTO && !known.includes(AUTO) ? undefined : asked);
      return `From now on the tools work on ${say(choice)}. What was found on another target need not hold there.`;
    },
  };
}

function say({ alias, target }: TargetChoice): string {
  if (target === undefined) return `the target ${alias}, this machine`;
  const { description } = target;
  const user = target.transport === 'ssh' ? target.user : undefined;
  const where = user === undefined ? whereIs(target) : `${user}@${whereIs(target)}`;
  return `the target ${alias} (${where}${description === undefined ? '' : `, ${description}`})`;
}
