// One agent as it is kept in agents.json.

import * as z from 'zod/mini';

/** Folders outside of its home that an agent may use. */
export const MAX_ALLOWED_PATHS = 64;
/** Longest path that Linux takes. */
export const MAX_PATH_BYTES = 4096;

export const AgentRecord = z.object({
  id: z.string(),
  home: z.string(),
  allowedPaths: z.array(z.string()),
  createdAt: z.string(),
  /** The secret of its webhook; shown only as part of the webhook's URL. */
  webhookToken: z.optional(z.string()),
});
export type AgentRecord = z.output<typeof AgentRecord>;

export const AgentsFile = z.object({
  agents: z.array(AgentRecord),
  /** Deleted on purpose: their homes are still there, and must not bring them back at the next start. */
  removed: z._default(z.array(z.string()), []),
});
export type AgentsFile = z.output<typeof AgentsFile>;
