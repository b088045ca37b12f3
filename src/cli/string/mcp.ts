// string --mcp: the whole command surface as one tool for any agent that speaks MCP, over standard streams.

import type { StringClient } from '../../client/string/string-client.js';
import { processLink } from '../../wire/transport/stdio.js';
import { EXIT } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { serveStringMcp } from './mcp/serve.js';

/** What it needs of a call of `string`. */
export interface McpSurroundings {
  client(): Promise<StringClient>;
  readonly config: { readonly strictTopics: boolean };
  readonly flags: Pick<Flags, 'has'>;
  readonly signal: AbortSignal;
  say(text: string): void;
}

/** Until the client goes, or we are told to end. stdout carries the protocol and nothing else. */
export async function runMcp(context: McpSurroundings): Promise<number> {
  const client = await context.client();
  const say = (text: string): void => context.say(`string --mcp: ${text}`);
  // While the client introduces itself. Why it failed is told again by the first call.
  client.ready().catch((thrown: unknown) => say((thrown as Error).message));
  await serveStringMcp(processLink(), {
    client,
    strictTopics: context.config.strictTopics,
    ackEvents: context.flags.has('ack-events') || process.env['STRING_MCP_ACK'] === '1',
    signal: context.signal,
    say,
  });
  context.signal.throwIfAborted();
  return EXIT.ok;
}
