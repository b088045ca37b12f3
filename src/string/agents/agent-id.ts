// Which ids an agent may have.

/** The id becomes the name of a folder and part of many messages. */
export const MAX_AGENT_ID_CHARS = 64;

const AGENT_ID = /^[A-Za-z0-9_.-]+$/;

/** Letters, digits, `_`, `.` and `-`; never a name that leads elsewhere as a path. */
export function isAgentId(id: string): boolean {
  return id.length <= MAX_AGENT_ID_CHARS && AGENT_ID.test(id) && id !== '.' && id !== '..';
}
