// One agent as it is kept in agents.json, and which ids an agent may have.

import * as z from 'zod/mini';

/** The id becomes the name of a folder and part of many messages. */
export const MAX_AGENT_ID_CHARS = 64;
/** Folders outside of its home that an agent may use. */
export const MAX_ALLOWED_PATHS = 64;
/** Longest path that Linux takes. */
export const MAX_PATH_BYTES = 4096;

const AGENT_ID = /^[A-Za-z0-9_.-]+$/;

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

/** Letters, digits, `_`, `.` and `-`; never a name that leads elsewhere as a path. */
export function isAgentId(id: string): boolean {
  return id.length <= MAX_AGENT_ID_CHARS && AGENT_ID.test(id) && id !== '.' && id !== '..';
}
