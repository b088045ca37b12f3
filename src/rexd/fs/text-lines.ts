// A file as lines that remember how they ended, so that what is not changed stays as it is to the byte.

export type LineEnd = '\n' | '\r\n' | '';

export interface FileLine {
  /** Bytes as characters (latin1): a file need not be valid text to have lines. */
  readonly text: string;
  readonly end: LineEnd;
}

export function splitLines(content: Buffer): FileLine[] {
  const lines: FileLine[] = [];
  let from = 0;
  for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, from)) {
    const isCrlf = at > from && content[at - 1] === 13;
    lines.push({ text: content.toString('latin1', from, isCrlf ? at - 1 : at), end: isCrlf ? '\r\n' : '\n' });
    from = at + 1;
  }
  if (from < content.length) lines.push({ text: content.toString('latin1', from), end: '' });
  return lines;
}

/** What a file without any line ends has them like. */
export function usualEnd(lines: readonly FileLine[]): LineEnd {
  return lines.find(({ end }) => end !== '')?.end ?? '\n';
}

/**
 * The bytes of lines that come from a file like `before`: with a last line that ends if its last line did, and
 * without a line in the middle that does not.
 */
export function joinLines(lines: readonly FileLine[], before: readonly FileLine[]): Buffer {
  const usual = usualEnd(before);
  const last = before.at(-1)?.end === '' ? '' : usual;
  const text = lines.map((line, i) => {
    if (i < lines.length - 1) return line.text + (line.end === '' ? usual : line.end);
    return line.text + (last === '' || line.end === '' ? last : line.end);
  });
  return Buffer.from(text.join(''), 'latin1');
}

/** Text of a patch in the form in which files are compared with it. */
export function toLineText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
