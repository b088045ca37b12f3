// Failures of an HTTP exchange: what is answered with a status, and what means that nobody is there to answer.

import type { OutgoingHttpHeaders } from 'node:http';
import { LocalError } from '../../base/errors.js';

export interface HttpErrorOptions {
  readonly headers?: OutgoingHttpHeaders;
  /** The whole JSON body, where the room's usual error shape does not fit. */
  readonly body?: unknown;
  readonly facts?: Record<string, unknown>;
  readonly cause?: unknown;
}

/** Thrown by a handler to be answered. Its message reaches the client, so it must be fit for one. */
export class HttpError extends LocalError {
  override readonly name: string = 'HttpError';
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: unknown;

  constructor(status: number, code: string, message: string, options: HttpErrorOptions = {}) {
    super(code, message, {
      ...(options.facts !== undefined && { facts: options.facts }),
      ...(options.cause !== undefined && { cause: options.cause }),
    });
    this.status = status;
    this.headers = options.headers ?? {};
    this.body = options.body;
  }
}

/** The client has left: nothing can be answered, and nobody waits for the work. */
export class ClientGoneError extends LocalError {
  override readonly name = 'ClientGoneError';

  constructor() {
    super('client_gone', 'the client has closed the connection');
  }
}

/** What an error is about, for rooms whose error text names it. */
export interface ErrorSubject {
  readonly method: string;
  readonly path: string;
}

export interface ErrorStyle {
  /** Turns a room's own errors (a full queue, an unknown agent) into answers; undefined leaves them internal. */
  readonly translate?: (thrown: unknown) => HttpError | undefined;
  /** The JSON body of an error. */
  readonly body?: (error: HttpError, subject: ErrorSubject) => unknown;
}

/** A stranger's message is never shown: it stays in the log. */
export function toHttpError(thrown: unknown, style: ErrorStyle): HttpError {
  const known = style.translate?.(thrown);
  if (known !== undefined) return known;
  if (thrown instanceof HttpError) return thrown;
  return new HttpError(500, 'internal_error', 'Internal error', { cause: thrown });
}

export function errorBody(error: HttpError, subject: ErrorSubject, style: ErrorStyle): unknown {
  if (error.body !== undefined) return error.body;
  return style.body?.(error, subject) ?? { error: { code: error.code, message: error.message } };
}
