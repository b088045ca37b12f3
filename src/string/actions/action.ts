// An action of a page: what it asks for, and what is done with it.

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

export const FIELD_TYPES = ['string', 'number', 'boolean', 'path', 'json'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export interface Field {
  readonly name: string;
  /** The letter of `-x`. */
  readonly short: string | undefined;
  readonly type: FieldType;
  readonly required: boolean;
  readonly description: string | undefined;
  readonly default: string | undefined;
  /** Nothing else is accepted. */
  readonly choices: readonly string[] | undefined;
  /** Of a number its value, of text its length in characters. */
  readonly min: number | undefined;
  readonly max: number | undefined;
}

export interface Header {
  readonly name: string;
  readonly value: string;
}

export interface Action {
  readonly id: string;
  readonly method: HttpMethod | 'CLI';
  /** An address with `{slots}`, or a command line. */
  readonly target: string;
  readonly headers: readonly Header[];
  /** A template; undefined when the fields themselves are the body. */
  readonly body: string | undefined;
  readonly fields: readonly Field[];
  /** Undefined for what all have. */
  readonly timeoutMs: number | undefined;
  /** Of the opening fence, counted from 1. */
  readonly line: number;
}

/** The text between the fences of ```` ```act.ID ````. */
export interface ActionSource {
  readonly id: string;
  readonly text: string;
  /** Of the opening fence, counted from 1. */
  readonly line: number;
}

/** What an author should be told. */
export interface ActionWarning {
  readonly line: number;
  readonly code: 'INVALID_ACTION_BLOCK' | 'INVALID_FIELD' | 'INVALID_CONSTRAINT';
  readonly message: string;
}
