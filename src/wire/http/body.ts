// Reading a request body: capped, uncompressed, and only when the client may still be answered properly.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type * as z from 'zod/mini';
import { LocalError, toError } from '../../base/errors.js';
import { describeIssues, sayIssue } from '../../base/schema-issues.js';
import type { BodyShare } from './body-budget.js';
import type { Exchange } from './context.js';
import { ClientGoneError, HttpError } from './errors.js';
import { gather } from './gather.js';

export interface ReadBodyOptions {
  /** The server's `maxBodyBytes` when absent. */
  readonly maxBytes?: number;
  /** Asked for room before each part of the body is kept. */
  readonly share?: BodyShare;
}

export interface ReadJsonOptions extends ReadBodyOptions {
  /**
   * Take any Content-Type, or none, for JSON. Off, a web page cannot send JSON here without a preflight; on, a form or a
   * `text/plain` fetch of any page can, and only the browser guard stands in the way.
   */
  readonly anyContentType?: boolean;
}

/**
 * The whole body. Throws HttpError 413 past the cap, at once when the length is announced, and 415 for a compressed
 * body. A client that waits for `100 Continue` gets it only after these checks.
 */
export async function readBody(exchange: Exchange, options: ReadBodyOptions = {}): Promise<Buffer> {
  const { req, res } = exchange;
  const maxBytes = options.maxBytes ?? exchange.settings.maxBodyBytes;
  refuseCompressed(req);
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (req.readableEnded) throw new LocalError('body_already_read', 'the request body has been read before');
  if (req.destroyed) throw new ClientGoneError();
  if (req.headers.expect !== undefined && req.httpVersion === '1.1' && !req.complete) res.writeContinue();
  return collect(req, maxBytes, options.share);
}

/** The body as JSON: 415 for another Content-Type, 400 when it is not JSON or not what `schema` asks for. */
export function readJson<Schema extends z.ZodMiniType>(
  exchange: Exchange,
  options: ReadJsonOptions & { readonly schema: Schema },
): Promise<z.output<Schema>>;
export function readJson(exchange: Exchange, options?: ReadJsonOptions): Promise<unknown>;
export async function readJson(
  exchange: Exchange,
  options: ReadJsonOptions & { readonly schema?: z.ZodMiniType } = {},
): Promise<unknown> {
  if (options.anyContentType !== true) requireJsonType(exchange.req);
  const value = parseJson(await readBody(exchange, options));
  return options.schema === undefined ? value : validate(options.schema, value);
}

function collect(req: IncomingMessage, maxBytes: number, share?: BodyShare): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let held = 0;
    const take = (chunk: Buffer): void => {
      held += chunk.length;
      try {
        if (held > maxBytes) throw tooLarge(maxBytes);
        share?.take(held);
        parts.push(chunk);
      } catch (thrown) {
        fail(toError(thrown));
      }
    };
    const done = (): void => {
      stop();
      const body = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, held);
      gather(() => resolve(body));
    };
    const fail = (error: Error): void => {
      stop();
      req.pause(); // whoever answers decides how much more is read
      reject(error);
    };
    const leave = (): void => fail(new ClientGoneError());
    const stop = (): void => {
      req.off('data', take).off('end', done).off('error', leave).off('close', leave);
    };
    req.on('data', take).on('end', done).on('error', leave).on('close', leave);
  });
}

function parseJson(bytes: Buffer): unknown {
  // Checked apart: decoding would silently turn bad bytes into replacement characters.
  if (!isUtf8(bytes)) throw new HttpError(400, 'invalid_json', 'the request body is not valid UTF-8');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new HttpError(400, 'invalid_json', 'the request body is not valid JSON', { cause });
  }
}

function validate(schema: z.ZodMiniType, value: unknown): unknown {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const issues = describeIssues(checked.error.issues, value);
  const message = issues.map((issue) => sayIssue(issue, '')).join('; ');
  throw new HttpError(400, 'invalid_body', message, { facts: { issues } });
}

const JSON_TYPE = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;(.*))?$/i;
const CHARSET = /(?:^|;)\s*charset\s*=\s*"?([^";\s]*)/i;

export function requireJsonType(req: IncomingMessage): void {
  const header = req.headers['content-type'] ?? '';
  if (header === 'application/json') return;
  const type = JSON_TYPE.exec(header);
  const charset = CHARSET.exec(type?.[1] ?? '')?.[1] ?? 'utf-8';
  if (type === null || !/^utf-?8$/i.test(charset))
    throw new HttpError(415, 'unsupported_media_type', 'the request body must be application/json in UTF-8');
}

/** A compressed body could unpack to any size; no client on a loopback gains by one. */
function refuseCompressed(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding'];
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return;
  throw new HttpError(415, 'unsupported_encoding', 'compressed request bodies are not accepted', {
    headers: { 'Accept-Encoding': 'identity' },
  });
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, 'body_too_large', `the request body exceeds ${maxBytes} bytes`, {
    headers: { Connection: 'close' },
    facts: { maxBytes },
  });
}
