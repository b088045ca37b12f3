// What all routes read in the same way: the agent of a request, and its JSON.

import { isUtf8 } from 'node:buffer';
import { readBody, requireJsonType } from '../../wire/http/body.js';
import type { RequestContext } from '../../wire/http/context.js';
import { HttpError } from '../../wire/http/errors.js';
import type { AgentRecord } from '../agents/agent-record.js';
import type { AgentStore } from '../agents/agent-store.js';
import { AGENT_HEADER } from '../protocol.js';
import { UnknownAgentError } from './agent-lives.js';

const HEADER = AGENT_HEADER.toLowerCase();
/** Of a text that is repeated in an error. */
export const MAX_SHOWN_CHARS = 128;

export type JsonObject = Readonly<Record<string, unknown>>;

export function agentHeader(ctx: RequestContext<unknown>): string | undefined {
  const value = ctx.req.headers[HEADER];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** 400 without the header, 401 for an agent that nobody has registered. */
export function requireAgent(ctx: RequestContext<unknown>, agents: AgentStore): AgentRecord {
  const id = agentHeader(ctx);
  if (id === undefined) throw badRequest(`${AGENT_HEADER} header required`);
  return findAgent(id, agents);
}

export function findAgent(id: string, agents: AgentStore, status: 401 | 404 = 401): AgentRecord {
  const agent = agents.get(id);
  if (agent === undefined) throw new UnknownAgentError(shorten(id), status);
  return agent;
}

/**
 * The body as an object, or undefined when it is no JSON or no object. A type that says it is something else is refused:
 * only such types can a web page send without asking first.
 */
export async function readObject(ctx: RequestContext<unknown>): Promise<JsonObject | undefined> {
  if (ctx.req.headers['content-type'] !== undefined) requireJsonType(ctx.req);
  const bytes = await readBody(ctx);
  try {
    const value: unknown = JSON.parse(decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Some editors and shells put it before everything they write. */
const BYTE_ORDER_MARK = '\u{FEFF}';

/** Throws for what is not UTF-8. */
export function decode(bytes: Buffer): string {
  // Checked apart: decoding would silently turn bad bytes into replacement characters.
  if (!isUtf8(bytes)) throw new TypeError('not UTF-8');
  const text = bytes.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Undefined for what is no text, or none at all. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function badRequest(message: string): HttpError {
  return new HttpError(400, 'bad_request', message);
}

/** As much of what somebody has sent as is repeated to them. */
export function shorten(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
}
