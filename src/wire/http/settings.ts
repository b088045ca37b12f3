// The caps and waits of an HTTP server, with the values it has unless told otherwise.

interface HttpLimits {
  /** Request line and headers together; past it the answer is 431. */
  readonly maxHeaderBytes: number;
  /** The request target; past it the answer is 414. */
  readonly maxUrlBytes: number;
  /** A request body, unless the handler asks for another cap; past it the answer is 413. */
  readonly maxBodyBytes: number;
  /** Open connections; one more is closed as soon as it is accepted. */
  readonly maxConnections: number;
  /** Requests being answered, streams included and over all connections; one more is answered 503. */
  readonly maxInFlight: number;
  /** Bytes of an unwanted request body that are read and dropped so that the client can come to read the answer. */
  readonly maxDrainBytes: number;
  /** Bytes an event stream may hold for a client that does not read them. */
  readonly maxStreamQueueBytes: number;
}

interface HttpTimeouts {
  /** From the connection, or the first byte of a later request, until its headers are complete. */
  readonly headersMs: number;
  /** The same until its body is complete. */
  readonly requestMs: number;
  /** How often the two above are looked at. */
  readonly checkMs: number;
  /** How long a connection may stay open between two requests. */
  readonly keepAliveMs: number;
  /** How long an unwanted body is read and dropped. */
  readonly drainMs: number;
  /** How long a client may take no byte of an answer that waits for it. */
  readonly stallMs: number;
  /** How long requests may still run after `close`. */
  readonly graceMs: number;
}

export interface HttpSettings extends HttpLimits, HttpTimeouts {}

export const HTTP_DEFAULTS: HttpSettings = {
  maxHeaderBytes: 16 * 1024,
  maxUrlBytes: 8 * 1024,
  maxBodyBytes: 10 * 1024 * 1024,
  maxConnections: 1024,
  maxInFlight: 2048,
  maxDrainBytes: 64 * 1024 * 1024,
  maxStreamQueueBytes: 1024 * 1024,
  headersMs: 10_000,
  requestMs: 120_000,
  checkMs: 1000,
  keepAliveMs: 30_000,
  drainMs: 3000,
  stallMs: 30_000,
  graceMs: 5000,
};
