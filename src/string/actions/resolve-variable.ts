// `$NAME` in an address, a header, a body: what the app has been given, never what the daemon has.

import { LocalError } from '../../base/errors.js';

export class UnresolvedVariableError extends LocalError {
  override readonly name = 'UnresolvedVariableError';
  readonly variable: string;

  constructor(variable: string) {
    super('unresolved_variable', `Unresolved environment variable: $${variable}`);
    this.variable = variable;
  }
}

export interface VariableSource {
  readonly env: (name: string) => string | undefined;
  readonly context: (name: string) => string | undefined;
}

/** Undefined for what is no variable: `$filter` is text unless somebody has set it. Throws UnresolvedVariableError. */
export function resolveVariable(
  { name }: { readonly name: string },
  { env, context }: VariableSource,
): string | undefined {
  const value = context(name) ?? env(name);
  if (value === undefined && /^[A-Z][A-Z0-9_]*$/u.test(name)) throw new UnresolvedVariableError(name);
  return value;
}
