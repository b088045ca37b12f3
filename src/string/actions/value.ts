// The value of a field: text, or the parts of a tuple that a shortcut stands for.

export type Value = string | readonly string[];

/** All of a tuple is its first part: what identifies it. Beyond its end there is nothing. */
export function textOf(value: Value, index?: number): string {
  if (typeof value === 'string') return index === undefined || index === 0 ? value : '';
  return value[index ?? 0] ?? '';
}
