// Three ways through the same chunks: find the newlines and nothing else, our splitter, and strings cut by `split`.

import { LineSplitter } from '../../src/wire/ndjson/line-splitter.js';

const NEWLINE = 10;

/** A way takes chunks that end with a whole line and returns how many lines it saw. */
export type SplitLines = (chunks: readonly Buffer[]) => number;

/** The limit: whoever splits lines has to find their ends. */
export function searchOnly(chunks: readonly Buffer[]): number {
  let lines = 0;
  for (const chunk of chunks) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  }
  return lines;
}

export function makeSplitter(): SplitLines {
  let lines = 0;
  const splitter = new LineSplitter(() => {
    lines += 1;
  });
  return (chunks) => {
    lines = 0;
    for (const chunk of chunks) splitter.push(chunk);
    return lines;
  };
}

export function splitStrings(chunks: readonly Buffer[]): number {
  let lines = 0;
  let held = '';
  for (const chunk of chunks) {
    const pieces = (held + chunk.toString('latin1')).split('\n');
    held = pieces.pop() ?? '';
    lines += pieces.length;
  }
  return lines;
}
