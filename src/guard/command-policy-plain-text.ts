// Shell texts so plain that they can be judged command by command: words, quotes, and what stands between commands.

import { MAX_COMMANDS, MAX_TEXT_CHARS } from './command-policy-shell-text.js';

/** Outside quotes these make a text do more than run the commands one can see: substitute, redirect, group, escape. */
const NOT_PLAIN = /[$`\\<>(){}#!~^]/;
const BETWEEN = /^(?:&&|\|\||[;|\n])/;
const SPACE = /^[ \t]+/;
const BARE = /^[^\s'"&|;]+/;
const SINGLE = /^'([^']*)'/;
const DOUBLE = /^"([^"$`\\]*)"/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
/** A first word with one of these is whatever file is there. */
const PATTERN = /[*?[]/;

/**
 * The commands of `text` in order, each as the words its program would get (file patterns as they are written), or
 * undefined if it is not that plain. `ls -l && git status | head` is; `ls $(x)`, `A=1 ls`, `ls > f` and `ls &` are not.
 */
export function readPlainCommands(text: string): readonly (readonly string[])[] | undefined {
  if (text.length > MAX_TEXT_CHARS) return undefined;
  const commands: string[][] = [[]];
  let rest = text;
  while (rest !== '') {
    const space = SPACE.exec(rest)?.[0] ?? BETWEEN.exec(rest)?.[0];
    if (space !== undefined) {
      if (BETWEEN.test(space)) commands.push([]);
      rest = rest.slice(space.length);
      continue;
    }
    const word = readWord(rest);
    if (word === undefined) return undefined;
    commands.at(-1)?.push(word.text);
    rest = rest.slice(word.length);
  }
  const full = commands.filter((words) => words.length > 0);
  return full.length <= MAX_COMMANDS && full.every(isPlainCommand) ? full : undefined;
}

/** A word ends where nothing joins it: `a'b'"c"` is one. */
function readWord(rest: string): { readonly text: string; readonly length: number } | undefined {
  let text = '';
  let at = 0;
  for (;;) {
    const here = rest.slice(at);
    const bare = BARE.exec(here)?.[0];
    if (bare !== undefined) {
      if (NOT_PLAIN.test(bare)) return undefined;
      text += bare;
      at += bare.length;
      continue;
    }
    const quoted = SINGLE.exec(here) ?? DOUBLE.exec(here);
    if (quoted === null) return at === 0 ? undefined : { text, length: at };
    text += quoted[1] ?? '';
    at += quoted[0].length;
    if (at === rest.length) return { text, length: at };
  }
}

function isPlainCommand([first = '']: readonly string[]): boolean {
  return first !== '' && !ASSIGNMENT.test(first) && !PATTERN.test(first);
}
