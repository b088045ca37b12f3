// `string --chanflow`: text in, text out. Blocks for String are executed, in order; everything else passes as it is.

import { StringDecoder } from 'node:string_decoder';
import { withSignal } from '../../base/deadline.js';
import type { StringClient } from '../../client/string/string-client.js';
import { ChanFlowDecoder, type Segment } from '../../wire/chanflow/decode.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import type { StringContext } from './context.js';
import { explain } from './execute.js';

export async function filterChanFlow(context: StringContext, words: readonly string[]): Promise<number> {
  if (words[0] !== undefined)
    throw new UsageError(`--chanflow takes no argument "${words[0]}": it reads standard input`);
  const client = await context.client();
  const decoder = new ChanFlowDecoder('string');
  const utf8 = new StringDecoder('utf8');
  const input = (process.stdin as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  for (;;) {
    const step = await withSignal(input.next(), context.signal);
    if (step.done === true) break;
    await passOn(context, client, decoder.push(utf8.write(step.value)));
  }
  await passOn(context, client, [...decoder.push(utf8.end()), ...decoder.end()]);
  return EXIT.ok;
}

async function passOn(
  context: StringContext,
  client: StringClient,
  segments: readonly Segment[],
): Promise<void> {
  for (const segment of segments)
    await context.out(segment.kind === 'outside' ? segment.raw : await answer(context, client, segment.raw));
}

/** In the words of the daemon, whose feedback this is. */
async function answer(context: StringContext, client: StringClient, block: string): Promise<string> {
  const { signal, timeoutMs } = context;
  try {
    return await client.chanflow(block, { signal, ...(timeoutMs !== undefined && { timeoutMs }) });
  } catch (thrown) {
    signal.throwIfAborted();
    throw explain(thrown, context);
  }
}
