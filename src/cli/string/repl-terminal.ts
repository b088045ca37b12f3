// The prompt at a terminal: a line editor with history. Ctrl-C calls off what runs, Ctrl-D leaves.

import { createInterface } from 'node:readline';
import { newAbort } from '../../base/abort.js';
import { EXIT } from '../exit-codes.js';
import { InterruptedError } from '../interrupts.js';
import type { StringContext } from './context.js';
import type { Prompt } from './repl.js';
import { TypedLines } from './typed-lines.js';
import { type History, MAX_HISTORY_LINES } from './repl-history.js';

export async function runTyped(context: StringContext, prompt: Prompt, history: History): Promise<number> {
  const editor = createInterface({
    input: process.stdin,
    output: process.stderr, // stdout has nothing but answers
    terminal: true,
    history: history.lines.toReversed(),
    historySize: MAX_HISTORY_LINES,
    removeHistoryDuplicates: true,
  });
  const typed = new TypedLines(editor);
  const show = (): void => {
    editor.setPrompt(prompt.lines.isOpen ? '... ' : `[${prompt.topic}] > `);
    editor.prompt();
  };
  const interrupt = (): void => {
    if (prompt.callOff()) return;
    prompt.lines.clear();
    editor.write(null, { ctrl: true, name: 'e' });
    editor.write(null, { ctrl: true, name: 'u' }); // what was typed so far is not meant any more
    process.stderr.write('\n');
    context.say('(Ctrl-D or /exit leaves)');
    show();
  };
  editor.on('SIGINT', interrupt);
  const end = newAbort(); // the prompt is to go, and what runs with it
  context.interrupts.take((signal) => {
    if (signal === 'SIGINT') return interrupt();
    end.abort(new InterruptedError(signal));
    prompt.callOff();
    typed.close();
  });
  try {
    for (;;) {
      end.signal.throwIfAborted();
      show();
      const line = await typed.next();
      end.signal.throwIfAborted();
      if (line === undefined) break;
      if (!prompt.lines.isOpen) history.add(line);
      if (!(await prompt.take(line))) return EXIT.ok;
    }
    process.stderr.write('\n');
    return EXIT.ok;
  } finally {
    editor.close();
  }
}
