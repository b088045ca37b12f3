// The line of a JSON text on which a value stands, for whoever has to mend it.

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

interface Level {
  readonly kind: '{' | '[';
  /** The key or the place of the value that is read now. */
  at: string | number;
  /** Of an object: the next string is a key. */
  keyNext: boolean;
}

/** Of the value at `path`, or of the nearest one around it; the text is JSON. */
export function lineOfJson(text: string, path: readonly (string | number)[]): number {
  const levels: Level[] = [];
  let best = { depth: 0, index: 0 };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === '}' || token === ']') levels.pop();
    else if (token === ',' && level !== undefined) step(level);
    else if (token === ':' && level !== undefined) level.keyNext = false;
    else {
      if (level?.keyNext === true) level.at = JSON.parse(token) as string;
      const depth = levels.length;
      const matches = depth <= path.length && levels.every(({ at }, i) => at === path[i]);
      if (matches && depth > best.depth) best = { depth, index };
      if (token === '{' || token === '[')
        levels.push({ kind: token, at: token === '[' ? 0 : '', keyNext: token === '{' });
    }
  }
  return text.slice(0, best.index).split('\n').length;
}

function step(level: Level): void {
  if (level.kind === '[') level.at = Number(level.at) + 1;
  else level.keyNext = true;
}
