// The JSON Schema of a tool's arguments: as short as it can be said, because every conversation carries it.

import * as z from 'zod/mini';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ObjectSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** What a caller may write, without what goes without saying. */
export function toJsonSchema(schema: z.ZodMiniObject): ObjectSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' }) as Record<string, unknown>;
  return shorten(rest) as ObjectSchema;
}

/** zod writes the bounds of a whole number even where nobody has set one. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, member]) =>
      !(key === 'maximum' && member === Number.MAX_SAFE_INTEGER) &&
      !(key === 'minimum' && member === Number.MIN_SAFE_INTEGER),
  );
  return Object.fromEntries(kept.map(([key, member]) => [key, shorten(member)]));
}
