// What a command of `string` is that is about the program, and the word it may have meant.

import { nearest } from '../../base/nearest.js';
import type { StringContext } from './context.js';

/** Gives the exit code. */
export type StringCommand = (context: StringContext, words: readonly string[]) => Promise<number>;

/** For words that cannot be: `; did you mean start?` */
export function suggest(word: string, known: readonly string[]): string {
  const close = nearest(word, known);
  return close === undefined ? '' : `; did you mean ${close}?`;
}
