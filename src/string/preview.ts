// A long text in one short line.

const CUT = '...';

/** The first line that is not blank, its blanks made one, at most `max` characters. */
export function previewOf(text: string, max: number): string {
  const line = text.split(/[\r\n]+/u).find((each) => each.trim() !== '') ?? '';
  const plain = line.trim().replaceAll(/\s+/gu, ' ');
  if (plain.length <= max) return plain;
  return `${plain.slice(0, max - CUT.length).replace(/[\uD800-\uDBFF]$/u, '')}${CUT}`;
}
