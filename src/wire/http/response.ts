// Responses that carry the headers every answer of a server must have, at no cost worth speaking of.

import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';

/**
 * `setHeader` before `writeHead` would send every header of every answer through maps and checks twice; a flat list given
 * to `writeHead` alone is written out as it is.
 */
export function responseWith(
  headers: Readonly<Record<string, string>>,
): typeof ServerResponse<IncomingMessage> {
  const always = Object.entries(headers);
  if (always.length === 0) return ServerResponse;
  return class<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    override writeHead(status: number, own?: unknown): this {
      return super.writeHead(status, flatten(always, own as OutgoingHttpHeaders | undefined));
    }
  };
}

/** What an answer says itself comes last, and in the place of what every answer says. */
function flatten(always: readonly (readonly [string, string])[], own: OutgoingHttpHeaders = {}): string[] {
  const flat: string[] = [];
  for (const [name, value] of always) if (!names(own, name)) flat.push(name, value);
  for (const name in own) {
    const value = own[name];
    if (value !== undefined) flat.push(name, value as string);
  }
  return flat;
}

function names(own: OutgoingHttpHeaders, wanted: string): boolean {
  for (const name in own)
    if (name.length === wanted.length && name.toLowerCase() === wanted.toLowerCase())
      return own[name] !== undefined;
  return false;
}
