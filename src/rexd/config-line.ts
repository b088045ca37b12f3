// Where in a TOML text a key stands, for whoever has to mend it. The parser does not tell.

/**
 * The number of the line that sets `path` (`limits.max_output_bytes`, `security.allowed_roots[1].path`), or that opens
 * the table which is meant. Undefined when it is written in a way that is not looked for, such as an inline table.
 */
export function lineOfKey(source: string, path: string): number | undefined {
  const wanted = path.split('.').map((part) => part.replace(/^"(.*)"$/, '$1'));
  const seen = new Map<string, number>();
  let table: string[] = [];
  let best: { readonly line: number; readonly depth: number } | undefined;
  let open: string | undefined;
  for (const [i, text] of source.split('\n').entries()) {
    const inside = open !== undefined;
    open = openAfter(text, open);
    if (inside) continue; // what looks like a key is text
    const array = /^\s*\[\[([^\]]+)\]\]/.exec(text)?.[1];
    const single = /^\s*\[([^[\]]+)\]/.exec(text)?.[1];
    const key = /^\s*([\w."-]+)\s*=/.exec(text)?.[1];
    let found: string[] | undefined;
    if (array !== undefined) {
      const name = words(array).join('.');
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      found = table = words(`${name}[${nth}]`);
    } else if (single !== undefined) found = table = words(single);
    else if (key !== undefined) found = [...table, ...words(key)];
    const depth = found === undefined ? 0 : common(found, wanted);
    if (depth > (best?.depth ?? 0)) best = { line: i + 1, depth };
  }
  return best?.line;
}

/** The quotes of a string that goes on in the next line, if one does after `text`. */
function openAfter(text: string, before: string | undefined): string | undefined {
  let open = before;
  for (let at = 0; at < text.length; ) {
    const three = text.slice(at, at + 3);
    const char = text.charAt(at);
    if (open === undefined) {
      if (char === '#') return undefined;
      if (three === '"""' || three === "'''") open = three;
      else if (char === '"' || char === "'") open = char;
      at += open?.length ?? 1;
    } else if (char === '\\' && open.startsWith('"')) at += 2;
    else if (text.startsWith(open, at)) {
      at += open.length;
      open = undefined;
    } else at += 1;
  }
  return open?.length === 3 ? open : undefined; // one quote ends with its line
}

function words(dotted: string): string[] {
  return dotted.split('.').map((word) => word.trim().replace(/^"(.*)"$/, '$1'));
}

/** How many of the words are the same; 0 unless all of `found` are: another key of the same table is no answer. */
function common(found: readonly string[], wanted: readonly string[]): number {
  return found.every((word, i) => isSame(word, wanted[i])) ? found.length : 0;
}

/** `roots` is where `roots[2]` is set, when it is set in one line. */
function isSame(word: string, wanted: string | undefined): boolean {
  return wanted !== undefined && (word === wanted || word === wanted.replace(/\[\d+\]$/, ''));
}
