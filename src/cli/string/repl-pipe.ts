// The prompt without anybody in front of it: lines from a pipe or a file, at the pace at which they are executed.

import { LineSplitter } from '../../wire/ndjson/line-splitter.js';
import { LocalError } from '../../base/errors.js';
import { withSignal } from '../../base/deadline.js';
import { EXIT } from '../exit-codes.js';
import type { StringContext } from './context.js';
import type { Prompt } from './repl.js';
import { MAX_COMMAND_CHARS } from './repl-input.js';

/** 1 when a command has failed. */
export async function runPiped(context: StringContext, prompt: Prompt): Promise<number> {
  const lines = readLines(process.stdin as AsyncIterable<Buffer>);
  try {
    for (;;) {
      const step = await withSignal(lines.next(), context.signal);
      if (step.done === true) break;
      if (!(await prompt.take(step.value))) return exitCode(prompt);
    }
  } finally {
    process.stdin.destroy();
  }
  await prompt.end();
  return exitCode(prompt);
}

function exitCode({ hasFailed }: Prompt): number {
  return hasFailed ? EXIT.failed : EXIT.ok;
}

async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let lines: string[] = [];
  const add = (bytes: Buffer, start: number, end: number): void => {
    lines.push(bytes.toString('utf8', start, end).replace(/\r$/u, ''));
  };
  let isOversize = false;
  const splitter = new LineSplitter(add, {
    maxLineBytes: MAX_COMMAND_CHARS,
    onOversize: () => (isOversize = true),
  });
  for await (const chunk of input) {
    splitter.push(chunk);
    if (isOversize)
      throw new LocalError('too_large', `a line of more than ${MAX_COMMAND_CHARS} bytes is no command`);
    yield* lines;
    lines = [];
  }
  splitter.end();
  yield* lines;
}
