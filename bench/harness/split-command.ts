// A command line cut into arguments the way a shell would cut it, without the shell: quotes and backslashes, nothing else.

import { LocalError } from '../../src/base/errors.js';

const PATTERN =
  /\s+|\\(?<escaped>[\s\S])|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[\s\S])*)"|(?<plain>[^\s\\'"]+)/gy;

/** Throws when a quote or a backslash is left open, or when there is no word at all. */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let end = 0;
  for (const match of text.matchAll(PATTERN)) {
    end = match.index + match[0].length;
    const piece = pieceOf(match.groups ?? {});
    if (piece !== undefined) word = (word ?? '') + piece;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (end !== text.length) throw new LocalError('bad_command', `open quote or backslash in: ${text}`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new LocalError('bad_command', 'the command is empty');
  return words;
}

/** The text a match adds to the current word; undefined for the blanks that end it. */
function pieceOf(groups: Record<string, string | undefined>): string | undefined {
  if (groups['double'] !== undefined) return groups['double'].replaceAll(/\\(["\\$`])/g, '$1');
  return groups['escaped'] ?? groups['single'] ?? groups['plain'];
}
