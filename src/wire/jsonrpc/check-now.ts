// Checks a value by a schema, without the library it was made with: a schema brings its own check, and who has none yet
// need not load one (docs/decisions/0010).

import type * as z from 'zod/mini';

type Checked =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly z.core.$ZodIssue[] };

export function checkNow(schema: z.core.$ZodType, value: unknown): Checked {
  const checked = schema['~standard'].validate(value);
  if (checked instanceof Promise) throw new TypeError('a schema of the wire must not have to wait');
  return checked as Checked;
}
