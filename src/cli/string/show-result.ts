// The answer to a command as it is printed: in its envelope, as JSON, or bare.

import type { ExecResult } from '../../client/string/string-client.js';
import { parseTopic } from '../../string/topic.js';
import { encodeBlock } from '../../wire/chanflow/encode.js';
import { printableLines } from '../colours.js';
import { EXIT } from '../exit-codes.js';
import type { StringContext } from './context.js';

/** Gives the exit code. `asked` is the topic as it was written. */
export async function showResult(
  context: StringContext,
  asked: string,
  result: ExecResult,
  stdout: Pick<NodeJS.WriteStream, 'isTTY'> = process.stdout,
): Promise<number> {
  const topic = result.topic ?? parseTopic(asked)?.name ?? asked;
  const text = render(context, topic, result);
  await context.out(stdout.isTTY && !context.raw ? forTerminal(text, context.json) : text);
  const hint = HINTS[result.code ?? '']?.(topic, result.content);
  if (hint !== undefined) context.say(`string: ${hint}`);
  if (result.ok) return EXIT.ok;
  return context.raw ? exitStatusOf(result.code) : EXIT.failed;
}

function render({ json, raw }: StringContext, topic: string, result: ExecResult): string {
  const { ok, code, content, meta } = result;
  if (json) {
    const failure = ok ? {} : { code: code ?? 'UNKNOWN' };
    return `${JSON.stringify({ ok, topic, ...failure, content, ...(meta !== null && { meta }) })}\n`;
  }
  if (raw) return content === '' || content.endsWith('\n') ? content : `${content}\n`;
  return `${encodeBlock('string', topic, content)}\n`;
}

/** Strangers write events, pages and names of files: none of them is to drive the terminal. */
function forTerminal(text: string, isJson: boolean): string {
  if (!isJson) return printableLines(text.replaceAll('\r\n', '\n'));
  return text.replaceAll(/[\u007f-\u009f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

/** `EXIT_3` of a command of a shell is 3. */
function exitStatusOf(code: string | null): number {
  const status = Number(/^EXIT_(\d+)$/.exec(code ?? '')?.[1] ?? EXIT.failed);
  return status >= 1 && status <= 255 ? status : EXIT.failed;
}

/** What its sender can do about it, where the answer itself does not say. */
const HINTS: Readonly<Record<string, (topic: string, content: string) => string | undefined>> = {
  QUEUE_FULL: () => 'the command has not run; try again when others in the topic are done',
  QUEUE_TIMEOUT: () => 'the command has not run: its turn did not come; see what runs with: string /topics',
  STREAM_INCOMPLETE: () =>
    'the answer broke off, and whether the command has run is not known: look before you send it again',
  BUSY: (topic) =>
    `something runs there still: string ${topic} //tail shows it, string ${topic} //interrupt ends it`,
  // Only where a folder is what is missing: pages of the web get at no file, whatever the agent may use.
  FILE_NOT_ALLOWED: (_topic, content) =>
    /^allowed: /mu.test(content)
      ? 'let the agent use a folder with: string agent add AGENT --allow FOLDER,FOLDER'
      : undefined,
  // From standard input: everybody on this machine can read what stands in a command line.
  WAITING_FOR_INPUT: (topic) =>
    `answer it with: string ${topic} //send -   (the answer is read from standard input)`,
};
