// The text of a command: its first line is the command, what follows is the body, kept to the byte.

export interface CommandLine {
  /** The whole word, as it was written, without the slash. */
  readonly word: string;
  /** Lower case, without the slash: `open`, `events`. */
  readonly verb: string;
  /** What follows the first `.` or `:` of the word, as it was written: `Search` of `/act.Search`. */
  readonly suffix: string | undefined;
  /** The rest of the first line, inner blanks kept. */
  readonly args: string;
  /** Undefined when there is only one line. */
  readonly body: string | undefined;
  /** All that follows the word, to the byte: what is quoted may go on over many lines. */
  readonly rest: string;
}

/** Undefined for what does not begin with a slash. `//` is taken for `/`. */
export function parseCommandLine(payload: string): CommandLine | undefined {
  const text = payload.trimStart();
  if (!text.startsWith('/')) return undefined;
  const end = text.indexOf('\n');
  const header = (end === -1 ? text : text.slice(0, end)).trimEnd().slice(text.startsWith('//') ? 2 : 1);
  const [, word = '', args = ''] = /^(\S*)\s*(.*)$/su.exec(header) ?? [];
  const [, verb = '', suffix] = /^([^.:]*)(?:[.:](.*))?$/su.exec(word) ?? [];
  return {
    word,
    verb: verb.toLowerCase(),
    suffix,
    args,
    body: end === -1 ? undefined : text.slice(end + 1),
    rest: /^\/\/?\S*\s*([\s\S]*)$/u.exec(text)?.[1] ?? '',
  };
}
