// One call of the tool: a command of the daemon, whatever became of the daemon since the last one.

import { LocalError } from '../../../base/errors.js';
import { type ExecResult, type StringClient, StringdError } from '../../../client/string/string-client.js';
import { startBeating } from '../../../mcp/beat.js';
import type { ToolContext, ToolResult } from '../../../mcp/tool.js';
import { failedCall, finishedCall } from '../../../string/tool.js';
import { parseTopic } from '../../../string/topic.js';

export interface DaemonCalls {
  readonly client: StringClient;
  readonly strict: boolean;
  readonly progressBeatMs: number;
}

/** What goes wrong is a result that says so, but for a call that was called off. */
export async function callDaemon(
  { client, strict, progressBeatMs }: DaemonCalls,
  { topic: raw, cmd }: { readonly topic: string; readonly cmd: string },
  ctx: ToolContext,
): Promise<ToolResult> {
  const topic = parseTopic(raw, { strict })?.name;
  if (topic === undefined) return failedCall('main', 'INVALID_TARGET', `Invalid topic: ${raw.slice(0, 128)}`);
  if (cmd.trim() === '') return failedCall(topic, 'INVALID_PAYLOAD', 'Empty command');
  const stop = startBeating(ctx, progressBeatMs);
  try {
    const result = await execute(client, topic, cmd, ctx.signal);
    return finishedCall(result.topic ?? topic, result.content, result.ok);
  } catch (thrown) {
    ctx.signal.throwIfAborted();
    if (!(thrown instanceof LocalError)) throw thrown;
    return failedCall(topic, thrown.code, thrown.message);
  } finally {
    stop();
  }
}

/** Sent again only when it cannot have been executed: nobody there knew our agent. */
async function execute(
  client: StringClient,
  topic: string,
  cmd: string,
  signal: AbortSignal,
): Promise<ExecResult> {
  try {
    return await client.exec(topic, cmd, { signal });
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof StringdError) || thrown.status !== 401) throw thrown;
    await client.ensureAgent({}, { signal });
    return await client.exec(topic, cmd, { signal });
  }
}
