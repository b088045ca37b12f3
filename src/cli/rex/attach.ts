// rex attach: a process that was left running, followed to its end as if it had been started here.

import { withSignal } from '../../base/deadline.js';
import type { RemoteProcess } from '../../client/rex/remote-process.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { parseCount } from './files/parse-range.js';
import { explainProcess, readProcessWords } from './process-words.js';
import { inputKind } from './input-source.js';
import { sayEnd } from './stream-process.js';
import { writeTo } from '../standard-output.js';
import { untilAborted } from './until-aborted.js';

export const attachCommand: RexCommand = {
  examples: [
    [
      'rex attach p_01m7hchvqtew5ts8hcwnv6c0fr',
      'all it has written, then what it writes; its exit code is ours',
    ],
    ['rex attach server-a p_01m7hchvqtew5ts8hcwnv6c0fr --tail 0', 'only what it writes from now on'],
  ],
  define: (command, run) => {
    command
      .usage('[options] [TARGET] ID')
      .argument('<words...>', 'the process, as "rex ps" shows it')
      .option('--tail <bytes>', 'begin with the last bytes of each stream, not with the first', parseCount)
      .action(run(attach));
    command.addHelpText('after', '\nCtrl-C leaves it running; "rex kill" ends it.');
  },
};

async function attach(
  context: RexContext,
  words: readonly string[],
  { tail }: { readonly tail?: number },
): Promise<number> {
  const { target, ids } = readProcessWords(words, 'attach');
  const [id] = ids;
  const client = await context.connect(target);
  const state = await client
    .request('exec.wait', { process_id: id, timeout_ms: 0 })
    .catch(explainProcess(id));
  const begin = (bytes: number): number => (tail === undefined ? 0 : Math.max(0, bytes - tail));
  const offsets = { stdout: begin(state.bytes_stdout), stderr: begin(state.bytes_stderr) };
  const running = client.attach(id, offsets);
  // What is piped to us is for it, if it still listens: one that was left running has its input closed as a rule.
  if (state.status === 'running' && inputKind() === 'data') void passInput(running);
  // Ctrl-C lets go of it.
  for await (const { stream, bytes } of untilAborted(running, context.signal))
    await writeTo(process[stream], bytes);
  return sayEnd(context, await withSignal(running.exit, context.signal));
}

async function passInput(running: RemoteProcess): Promise<void> {
  const { pumpInput } = await import('./pump-input.js');
  await pumpInput(process.stdin, running).catch(() => {});
}
