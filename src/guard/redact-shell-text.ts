// Secrets in a text for a shell: the same places as in an argv, found in the text by reading it as a shell would.

import { type Place, readSimpleCommands } from './command-policy-shell-text.js';
import { hideByPlace, namesProgram } from './redact-argv.js';

/** Texts for a shell in words of texts for a shell; what lies deeper is hidden as a whole. */
export const MAX_SHELLS_WITHIN = 4;
const DEEP = '[deep]';

/** The text with what its programs take as a secret put out of sight; everything else stays as it was written. */
export function redactShellText(text: string, depth = 0): string {
  if (!namesProgram(text)) return text;
  const changes = readSimpleCommands(text, { hereDocs: true }).flatMap(({ words, places }) => {
    const hidden = hideByPlace(words);
    return words.flatMap((word, at) => {
      const place = places[at];
      const shown = hidden[at] ?? (/\s/.test(word) ? redactWithin(word, depth + 1) : word);
      return place === undefined || shown === word ? [] : [{ place, shown }];
    });
  });
  return put(changes, text);
}

function redactWithin(word: string, depth: number): string {
  if (depth <= MAX_SHELLS_WITHIN) return redactShellText(word, depth);
  return namesProgram(word) ? DEEP : word;
}

/** Of changes within each other the outer one counts: it was made from all that is in it. */
function put(changes: readonly { place: Place; shown: string }[], text: string): string {
  let out = '';
  let from = 0;
  for (const { place, shown } of changes.toSorted(
    (a, b) => a.place.from - b.place.from || b.place.to - a.place.to,
  )) {
    if (place.from < from) continue;
    const [quote = ''] = /^["']/.exec(text.slice(place.from, place.from + 1)) ?? [];
    out += `${text.slice(from, place.from)}${quote}${shown}${quote}`;
    from = place.to;
  }
  return out + text.slice(from);
}
