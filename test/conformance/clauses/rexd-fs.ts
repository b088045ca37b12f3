// The clauses of REXD v1 about files, and what its clients rely on beyond the letter.

import type { Clause } from './clause.js';

const READ = 'rexd-v1 "fs.read"';
const WRITE = 'rexd-v1 "fs.write"';
const LIST = 'rexd-v1 "fs.list"';
const GLOB = 'rexd-v1 "fs.glob"';
const STAT = 'rexd-v1 "fs.stat"';
const ROOTS = 'rexd-v1 "Allowlisted workspace roots (required)"';

export const rexdFs = {
  'rexd/fs.read/result': {
    text: 'the answer has path, size, mtime, encoding, content and truncated',
    source: READ,
  },
  'rexd/fs.read/encoding': {
    text: 'content is text by default and base64 when asked; another encoding is refused',
    source: READ,
  },
  'rexd/fs.read/not-text': {
    text: 'bytes that are no text come as base64 when no encoding was asked for',
    source: READ,
  },
  'rexd/fs.read/range': {
    text: 'offset and length count bytes; past the end there is nothing; what is no count is refused',
    source: READ,
  },
  'rexd/fs.read/characters': {
    text: 'a range of text gives the characters that begin in it, and ranges put together are the file',
    source: READ,
  },
  'rexd/fs.read/ranges': {
    text: 'any file read in consecutive ranges, as text, as bytes or as it comes, is the file',
    source: READ,
  },
  'rexd/fs.read/limit': {
    text: 'no read gives more than max_file_read_bytes, and truncated says when there is more',
    source: 'rexd-v1 "fs.read", "Limits"',
  },
  'rexd/fs.read/line-length': {
    text: 'a read that named no length is answered by a line shorter than 1 MiB',
    source: READ,
  },
  'rexd/fs.read/no-file': {
    text: 'a missing file and a folder are refused as invalid params, with the reason',
    source: 'rexd-v1 "fs.read", "Errors"',
  },
  'rexd/fs.read/relative': {
    text: 'a relative path is below the folder of the session; nothing in it is expanded or decoded',
    source: 'rexd-v1 "Session Model", "fs.read"',
  },
  'rexd/fs/special-files': {
    text: 'pipes, sockets and devices are refused at once and never hold up anything',
    source: 'rexd-v1 "fs.read", "fs.write"',
  },
  'rexd/fs.write/result': {
    text: 'the answer has path, bytes_written, mtime and created; replacing is the default',
    source: WRITE,
  },
  'rexd/fs.write/params': {
    text: 'unknown modes and encodings, bad base64 and missing content are refused and change nothing',
    source: WRITE,
  },
  'rexd/fs.write/base64': { text: 'base64 content is written as the bytes it stands for', source: WRITE },
  'rexd/fs.write/create': {
    text: 'mode create fails when anything is there, atomic or not',
    source: WRITE,
  },
  'rexd/fs.write/append': { text: 'mode append adds to the file, or makes it', source: WRITE },
  'rexd/fs.write/in-turn': {
    text: 'writes to one file that are under way together are made in the order they were sent',
    source: WRITE,
  },
  'rexd/fs.write/mkdir-parents': {
    text: 'missing folders are made only when mkdir_parents is true',
    source: WRITE,
  },
  'rexd/fs.write/atomic': {
    text: 'an atomic write keeps mode and link, leaves nothing behind and takes the longest names',
    source: WRITE,
  },
  'rexd/fs.write/expected-mtime': {
    text: 'a file that is not the expected version is left alone: concurrency_conflict, with what is there now',
    source: 'rexd-v1 "fs.write", "Errors"',
  },
  'rexd/fs.write/quick-writes': {
    text: 'two versions of a file written one right after the other never have the same mtime',
    source: 'rexd-v1 "fs.write" expected_mtime',
  },
  'rexd/fs.list/result': {
    text: 'entries have name, path, type, size and mtime, sorted by name, hidden ones included',
    source: LIST,
  },
  'rexd/fs.list/recursive': {
    text: 'recursive lists the whole tree depth first and never follows a link',
    source: LIST,
  },
  'rexd/fs.list/max-entries': { text: 'max_entries caps the list, and truncated says so', source: LIST },
  'rexd/fs.list/line-length': {
    text: 'a list that named no cap is answered by a line shorter than 1 MiB, truncated if need be',
    source: LIST,
  },
  'rexd/fs.list/no-folder': { text: 'a file or nothing is refused, recursive or not', source: LIST },
  'rexd/fs.list/any-name': {
    text: 'a file whose name is not UTF-8 can be read by the path it is listed with',
    source: LIST,
  },
  'rexd/fs.glob/result': {
    text: 'matches are absolute paths below cwd, or below the folder of the session',
    source: GLOB,
  },
  'rexd/fs.glob/patterns': { text: '*, ?, [a-z], {a,b} and ** are understood', source: GLOB },
  'rexd/fs.glob/max-matches': {
    text: 'max_matches caps what is given, counting only what is inside the roots',
    source: GLOB,
  },
  'rexd/fs.glob/line-length': {
    text: 'a glob that named no cap is answered by a line shorter than 1 MiB, truncated if need be',
    source: GLOB,
  },
  'rexd/fs.stat/result': {
    text: 'the answer has path, exists, type, size, mtime, mode, uid and gid',
    source: STAT,
  },
  'rexd/fs.stat/missing': {
    text: 'what is not there is told as exists false, not as an error',
    source: STAT,
  },
  'rexd/fs.stat/link': {
    text: 'a link is described itself, with its target, also when it leads nowhere or out of the roots',
    source: STAT,
  },
  'rexd/fs.patch/result': {
    text: 'fs.patch adds, updates, deletes and moves files, and tells which',
    source: 'rexd-clients "fs.patch"',
  },
  'rexd/fs.patch/all-or-nothing': {
    text: 'when one part of a patch cannot be applied, every file is as it was',
    source: 'rexd-clients "fs.patch"',
  },
  'rexd/fs.patch/keeps': {
    text: 'a patched file keeps its mode, its line ends and its missing last newline',
    source: 'rexd-clients "fs.patch"',
  },
  'rexd/fs.patch/clear': {
    text: 'a hunk that fits nowhere or in several places is refused, and End of File is heeded',
    source: 'rexd-clients "fs.patch"',
  },
  'rexd/fs.patch/taken-names': {
    text: 'adding or moving onto what is there is refused, as is deleting a folder',
    source: 'rexd-clients "fs.patch"',
  },
  'rexd/fs.edit/result': {
    text: 'fs.edit replaces a text that is there once, or everywhere when asked, byte for byte',
    source: 'rexd-clients "fs.edit"',
  },
  'rexd/fs.edit/refused': {
    text: 'fs.edit refuses what is missing, found more than once, or no change',
    source: 'rexd-clients "fs.edit"',
  },
  'rexd/roots/paths': {
    text: 'paths outside the roots are refused in every spelling, with the path and the allowed roots',
    source: 'rexd-v1 "Allowlisted workspace roots (required)", "Errors"',
  },
  'rexd/roots/links': {
    text: 'a link that leads out of the roots is never followed, by any method',
    source: ROOTS,
  },
  'rexd/roots/dangling-link': { text: 'a link to nowhere outside never makes a file there', source: ROOTS },
  'rexd/roots/temporary-names': { text: 'no planted temporary name sends a write elsewhere', source: ROOTS },
  'rexd/roots/itself': {
    text: 'a root itself cannot be written, the refusal says that this is why, and nothing appears beside it',
    source: ROOTS,
  },
  'rexd/roots/swap': {
    text: 'a folder swapped for a link while it is used gives nothing away',
    source: ROOTS,
  },
} as const satisfies Record<string, Clause>;
