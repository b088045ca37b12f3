// Values on their way into the database and out of it.

import { LocalError } from '../../base/errors.js';

/** Whole numbers come back as numbers while that is exact, and as bigints beyond. */
export type SqlValue = string | number | bigint | Uint8Array | null;
export type SqlRow = Record<string, string | number | bigint | Buffer | null>;

const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;

export class SqlValueError extends LocalError {
  override readonly name = 'SqlValueError';

  constructor(problem: string, position: number) {
    super('bad_sql_value', `value ${position + 1}: ${problem}`, { facts: { position } });
  }
}

/**
 * The driver is handed nothing it has not been seen to take: it ends the whole process at a boolean, stores NULL for
 * `undefined` and NaN, gives text back only up to its first zero byte, and takes every number for a floating one.
 */
export function bindValue(value: unknown, position: number): string | number | bigint | Uint8Array | null {
  if (value === null) return null;
  switch (typeof value) {
    case 'string':
      if (value.includes('\0')) throw new SqlValueError('text with a zero byte; store it as bytes', position);
      return value;
    case 'number':
      if (Number.isNaN(value)) throw new SqlValueError('not a number', position);
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'bigint':
      if (value < MIN_INTEGER || value > MAX_INTEGER)
        throw new SqlValueError('does not fit into 64 bits', position);
      return value;
    default:
      if (value instanceof Uint8Array) return value;
      throw new SqlValueError(`${typeof value} cannot be stored`, position);
  }
}

/** What the driver gave for a row, with exact whole numbers and bytes as a Buffer. */
export function convertRow(row: Record<string, unknown>): SqlRow {
  const converted: SqlRow = Object.create(null) as SqlRow; // a column may have any name
  for (const [name, value] of Object.entries(row)) converted[name] = convertValue(value);
  return converted;
}

function convertValue(value: unknown): SqlRow[string] {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return value as string | number | null;
}
