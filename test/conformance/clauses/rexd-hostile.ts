// Files, patterns and edits made to cost much: what they may cost others.

import type { Clause } from './clause.js';

const OURS = 'hawser "a request of one client is never felt by another"';

export const rexdHostile = {
  'rexd/hostile/edit-places': {
    text: 'an edit with tens of millions of places is made, or refused as too large, and the server lives',
    source: OURS,
  },
  'rexd/hostile/edit-text': {
    text: 'other requests are answered while an edit looks for a text that nearly fits everywhere',
    source: OURS,
  },
  'rexd/hostile/search-text': {
    text: 'other requests are answered while a search looks for such a text, and timeout_ms ends it',
    source: OURS,
  },
  'rexd/hostile/patch-lines': {
    text: 'a file of millions of empty lines is patched while others are answered; one of sixty million, or a patch of five million, is refused',
    source: OURS,
  },
  'rexd/fs.edit/pipelined': {
    text: 'edits and patches of one file that are sent one behind the other are all made; none is a conflict unless it names a version',
    source: 'rexd-v1 "fs.edit", "fs.patch"',
  },
  'rexd/hostile/gitignore': {
    text: 'other requests are answered while .gitignore files made to cost much are heeded, and the answer says what it lacks',
    source: OURS,
  },
  'rexd/hostile/glob': {
    text: 'a pattern that stands for very much is refused, and other requests are answered while a costly one is matched',
    source: OURS,
  },
  'rexd/hostile/deep-path': {
    text: 'other requests are answered while the .gitignore files above a very deep folder are looked for',
    source: OURS,
  },
} as const satisfies Record<string, Clause>;
