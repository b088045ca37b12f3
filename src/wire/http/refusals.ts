// The kit's own noes: requests that are malformed, too long or for no route, as the errors they are answered with.

import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { HttpError } from './errors.js';
import type { Match } from './router.js';

/** A request needs exactly one Host; HTTP/1.0 may do without. node:http would silently keep the first of two. */
export function hasOneHost(req: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && req.httpVersion === '1.0');
}

export function unmatched(match: Match, method: string, path: string): HttpError {
  switch (match.kind) {
    case 'malformed':
      return new HttpError(400, 'bad_request', match.message);
    case 'wrong_method': {
      const headers = allowHeader(match.allow);
      return new HttpError(405, 'method_not_allowed', `Method not allowed: ${method} ${path}`, { headers });
    }
    default:
      return new HttpError(404, 'not_found', `Not found: ${method} ${path}`);
  }
}

export function allowHeader(allow: readonly string[]): OutgoingHttpHeaders {
  return allow.length === 0 ? {} : { Allow: allow.join(', ') };
}

/** What node:http reports when it cannot make a request of the bytes it was sent. */
export function malformed(error: Error): HttpError {
  switch ('code' in error ? error.code : undefined) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError(431, 'headers_too_large', 'the request headers are too large');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpError(413, 'body_too_large', 'the chunk extensions are too large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpError(408, 'request_timeout', 'the request did not arrive in time');
    default:
      return new HttpError(400, 'bad_request', 'the request is not valid HTTP');
  }
}
