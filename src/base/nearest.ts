// "Did you mean …": the known word nearest to one that is not known.

/** How many edits apart two words may be and still be taken for a slip. */
export const MAX_EDITS = 3;
/** Of a word, as far as it is compared: nobody mistypes a flag of a thousand letters. */
export const MAX_WORD_CHARS = 64;

export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, edits: editDistance(word, candidate) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= Math.min(MAX_EDITS, Math.floor(word.length / 2))
    ? best.candidate
    : undefined;
}

/** Letters changed, left out, added, or swapped with the next one; one row at a time. */
function editDistance(left: string, right: string): number {
  const [a, b] = [left.slice(0, MAX_WORD_CHARS).toLowerCase(), right.slice(0, MAX_WORD_CHARS).toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  let rowBefore: number[] = [];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (rowBefore[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [rowBefore, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
