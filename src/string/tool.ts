// The one tool of String, as every model sees it: over /mcp, over standard streams, and in a loop of one's own.

import * as z from 'zod/mini';
import { textOf, textResult, type ToolContext, type ToolDefinition, type ToolResult } from '../mcp/tool.js';
import { ToolTable } from '../mcp/tool-table.js';
import { encodeBlock } from '../wire/chanflow/encode.js';

const CHANNEL = 'string';

const Input = z.object({
  topic: z
    .string()
    .check(
      z.describe(
        'Session: a tab name (main, docs), app:NAME[:CONFIG], bash:NAME, or a hub (app bash tool event system agent).',
      ),
    ),
  cmd: z
    .string()
    .check(
      z.minLength(1),
      z.describe(
        'One command, e.g. /help, /open ./README.md, /info. Further lines are its body. In bash:NAME: shell input.',
      ),
    ),
});

export const StringTool = {
  name: 'string',
  title: 'String',
  description: [
    'Run one String command in a topic. A topic is a session with its own document, variables and history; it is made on first use.',
    'Start with topic "main" and cmd "/help". Files and pages: /open TARGET; change files by /write, /edit, /replace, /append PATH with the text in further lines, take it back by /undo. Shell: topic "bash:dev", cmd is typed into a persistent shell (//help for its own commands).',
    'Events from webhooks: /events, /events.read ID, /events.ack ID. The answer is <𝒞=string:TOPIC>…</𝒞>; failures begin with ERROR(CODE).',
  ].join(' '),
  input: Input,
  annotations: { openWorldHint: true },
} as const satisfies ToolDefinition<typeof Input>;

/** What is wrong with the arguments is told in the form that every other failure has. */
export class StringTools extends ToolTable {
  override async call(name: string, given: unknown, ctx: ToolContext): Promise<ToolResult> {
    const result = await super.call(name, given, ctx);
    if (result.structured === undefined) return result;
    return failedCall('main', 'INVALID_PAYLOAD', textOf(result));
  }
}

/** The answer to a call: one ChanFlow block, as everywhere. `topic` is the canonical spelling. */
export function finishedCall(topic: string, body: string, ok: boolean): ToolResult {
  const result = textResult(encodeBlock(CHANNEL, topic, body));
  return ok ? result : { ...result, isError: true };
}

export function failedCall(topic: string, code: string, message: string): ToolResult {
  return finishedCall(topic, `ERROR(${code}): ${message}`, false);
}
