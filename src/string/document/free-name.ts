// A name that nobody has yet: the one that was wished for, or the same with the next number.

/** `counts` remembers the last number of each wish, so that many equal wishes cost no more than one each. */
export function freeName(
  wanted: string,
  separator: string,
  names: { has(name: string): boolean },
  counts: Map<string, number>,
): string {
  let count = counts.get(wanted) ?? 1;
  let name = count === 1 ? wanted : `${wanted}${separator}${count}`;
  for (; names.has(name); name = `${wanted}${separator}${count}`) count += 1;
  counts.set(wanted, count);
  return name;
}
