// The tool of String over a link: calls go to the daemon as commands, and its events to a client that listens to channels.

import { VERSION } from '../../../base/version.js';
import type { EventWatch, StringClient } from '../../../client/string/string-client.js';
import { PROGRESS_BEAT_MS } from '../../../mcp/beat.js';
import type { McpNotify } from '../../../mcp/server.js';
import { serveLines } from '../../../mcp/serve-lines.js';
import { bindTool, type ToolContext, type ToolResult } from '../../../mcp/tool.js';
import { StringTool, StringTools } from '../../../string/tool.js';
import type { Link } from '../../../wire/transport/link.js';
import { callDaemon } from './call-daemon.js';
import { CHANNEL_CAPABILITY, forwardEvents } from './channel.js';

export interface ServeOptions {
  readonly client: StringClient;
  readonly strictTopics: boolean;
  /** Events that a client has been told of count as acknowledged. */
  readonly ackEvents?: boolean;
  readonly signal?: AbortSignal;
  /** For people: what no answer tells. */
  readonly say: (text: string) => void;
  readonly progressBeatMs?: number;
}

/** Settles when the client has gone and every command of its has ended or been called off. */
export async function serveStringMcp(link: Link, options: ServeOptions): Promise<void> {
  const { client, signal, say, progressBeatMs = PROGRESS_BEAT_MS } = options;
  const calls = new Set<Promise<unknown>>();
  const call = (args: { topic: string; cmd: string }, ctx: ToolContext): Promise<ToolResult> => {
    const running = callDaemon({ client, progressBeatMs, strict: options.strictTopics }, args, ctx);
    const settled = running.catch(() => {}).finally(() => calls.delete(settled));
    calls.add(settled);
    return running;
  };
  const watches: EventWatch[] = [];
  const listen = (notify: McpNotify): void => {
    if (watches.length === 0) watches.push(forwardEvents(client, notify, options));
  };
  await using connection = await serveLines(link, {
    name: 'string',
    title: 'String',
    version: VERSION,
    tools: new StringTools([bindTool(StringTool, call)]),
    experimental: CHANNEL_CAPABILITY,
    onInitialized: listen,
    onError: (error) => say(error.message),
  });
  const stop = (): void => void connection.close();
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    await connection.closed;
  } finally {
    signal?.removeEventListener('abort', stop);
    for (const watch of watches) await watch.close();
    await Promise.all(calls); // each tells the daemon that its command is not wanted any more
  }
}
