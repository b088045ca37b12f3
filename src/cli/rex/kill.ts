// rex kill: ends what was left running, or sends it a signal.

import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { explainProcess, readProcessWords } from './process-words.js';

export const killCommand: RexCommand = {
  examples: [
    ['rex kill p_01m7hchvqtew5ts8hcwnv6c0fr', 'end it and all it has started: TERM, then KILL'],
    ['rex kill server-a p_01m7hchvqtew5ts8hcwnv6c0fr --signal HUP', 'another signal'],
  ],
  define: (command, run) => {
    command
      .usage('[options] [TARGET] ID...')
      .argument('<words...>', 'the processes, as "rex ps" shows them')
      .option('-s, --signal <name>', 'which one, with or without SIG', 'TERM')
      .action(run(kill));
  },
};

async function kill(
  context: RexContext,
  words: readonly string[],
  options: { readonly signal: string },
): Promise<number> {
  const { target, ids } = readProcessWords(words, 'kill');
  const client = await context.connect(target);
  const signal = options.signal.toUpperCase().replace(/^SIG/, '');
  const results = [];
  for (const id of ids) {
    const { ok } = await client.request('exec.kill', { process_id: id, signal }).catch(explainProcess(id));
    results.push({ process_id: id, signal, ok });
    if (!ok) context.warn(`${id}: has ended already`);
    else if (!context.json) context.say(`${id}: sent ${signal}`);
  }
  if (context.json) await context.outJson(results);
  return results.every(({ ok }) => ok) ? 0 : 1;
}
