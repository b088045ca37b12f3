// Clauses about files beyond the letter of REXD v1: fs.search, .gitignore, special files, versions, and a long attack.

import type { Clause } from './clause.js';

const OURS = 'rexd-clients "fs"';
const ROOTS = 'rexd-v1 "Allowlisted workspace roots (required)"';
const WRITE = 'rexd-v1 "fs.write"';

export const rexdFiles = {
  'rexd/fs.search/result': {
    text: 'fs.search tells path, line, column and text of every line with the text, and how many files it searched',
    source: OURS,
  },
  'rexd/fs.search/query': {
    text: 'a query is text unless regex is true; case_sensitive false finds both cases; context gives lines around',
    source: OURS,
  },
  'rexd/fs.search/files': {
    text: 'include and exclude choose files, .git and what .gitignore leaves out is passed by unless gitignore is false',
    source: OURS,
  },
  'rexd/fs.search/skipped': {
    text: 'binary and large files are passed by and counted, pipes, sockets, devices and links are never opened',
    source: OURS,
  },
  'rexd/fs.search/caps': {
    text: 'max_matches and max_per_file cap the answer, which stays below 1 MiB, and truncated_by says which bound it was',
    source: OURS,
  },
  'rexd/fs.search/column': {
    text: 'column counts the characters of the line as it is shown, also where it is no UTF-8',
    source: OURS,
  },
  'rexd/fs.search/long-line': {
    text: 'a line too long for an expression is passed by, and truncated_by says so; the other lines are found',
    source: OURS,
  },
  'rexd/fs.search/hostile': {
    text: 'an expression that never ends is stopped, and meanwhile other requests are answered',
    source: OURS,
  },
  'rexd/fs.search/called-off': {
    text: 'a search ends with its session, and the client is told',
    source: OURS,
  },
  'rexd/fs.search/refused': { text: 'bad queries and paths outside the roots are refused', source: OURS },
  'rexd/fs.glob/gitignore': {
    text: 'gitignore leaves out .git and what .gitignore files name, at every depth; without it nothing is left out',
    source: 'rexd-v1 "fs.glob"',
  },
  'rexd/fs.list/gitignore': {
    text: 'a recursive list with gitignore leaves out the same',
    source: 'rexd-v1 "fs.list"',
  },
  'rexd/fs/big-tree': {
    text: 'list, glob and search of a tree too big for one answer say so, and fit the line of every client',
    source: 'rexd-v1 "fs.list", "fs.glob"',
  },
  'rexd/fs.mkdir/result': {
    text: 'fs.mkdir makes a folder, with those above it when parents is true, and tells whether it was new',
    source: OURS,
  },
  'rexd/fs.remove/result': {
    text: 'fs.remove removes a file, a link itself or an empty folder, a full one only with recursive, and counts',
    source: OURS,
  },
  'rexd/fs.move/result': {
    text: 'fs.move renames files, links and folders, takes a taken name only with overwrite, and never a folder into itself',
    source: OURS,
  },
  'rexd/fs.copy/result': {
    text: 'fs.copy copies content and mode, folders only with recursive, and links inside as links',
    source: OURS,
  },
  'rexd/fs.move/nothing-made': {
    text: 'fs.move and fs.copy with mkdir_parents make no folder when there is nothing to move or copy, or it would go into itself',
    source: OURS,
  },
  'rexd/fs/special-files-all': {
    text: 'no method hangs on or opens a pipe, a socket or a device, named, linked to, or found on the way',
    source: 'rexd-v1 "fs.read", "fs.write", "fs.list", "fs.glob", "fs.stat"',
  },
  'rexd/fs/hard-links': {
    text: 'a file with several names is read as any; a replaced one leaves the other names what they had',
    source: ROOTS,
  },
  'rexd/fs.write/expected-sha256': {
    text: 'expected_sha256 guards write and edit, and a conflict tells mtime, size and sha256 of what is there',
    source: `${WRITE}, "Errors"`,
  },
  'rexd/fs.write/keeps': {
    text: 'replacing keeps mode, owner and the link it went through, and leaves no other file',
    source: WRITE,
  },
  'rexd/roots/swap-soak': {
    text: 'thirty seconds of folders swapped for links give nothing away and let nothing out, by any method',
    source: ROOTS,
  },
} as const satisfies Record<string, Clause>;
