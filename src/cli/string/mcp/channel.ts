// The events of our agent as notifications of a channel, for clients that bring them before their model unasked.

import { toError } from '../../../base/errors.js';
import type { EventWatch, StringClient } from '../../../client/string/string-client.js';
import type { McpNotify } from '../../../mcp/server.js';

const METHOD = 'notifications/claude/channel';
export const CHANNEL_CAPABILITY = { 'claude/channel': {} } as const;

export interface ChannelOptions {
  /** Otherwise an event stays unacknowledged until the model, or whoever reads the inbox, says so. */
  readonly ackEvents?: boolean;
  readonly say: (text: string) => void;
}

/** Until it is closed. Each event is told once, and the next one when this one is on its way. */
export function forwardEvents(client: StringClient, notify: McpNotify, options: ChannelOptions): EventWatch {
  const watch = client.watchEvents(
    async ({ id, agentId, receivedAt, source, text }) => {
      const meta = {
        source: 'string',
        agent_id: agentId,
        event_id: id,
        received_at: receivedAt,
        event: source,
      };
      await notify(METHOD, { content: text, meta });
    },
    { autoAck: options.ackEvents === true },
  );
  watch.closed.catch((thrown: unknown) =>
    options.say(`events are not forwarded any more: ${toError(thrown).message}`),
  );
  return watch;
}
