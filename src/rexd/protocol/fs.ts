// fs.*: files below the roots of the session.

import * as z from 'zod/mini';
import { defineMethod } from '../../wire/jsonrpc/method.js';
import { Amount, Encoding, Mtime, SessionParams } from './fields.js';
import { Path } from './path.js';

/** Patterns of names in one search: every file is held against each of them. */
export const MAX_NAME_PATTERNS = 100;
/** Of a text or pattern to be searched for. */
export const MAX_QUERY_CHARS = 4096;

export const EntryType = z.enum(['file', 'dir', 'symlink', 'other']);

/** The file as the caller last saw it; when it is another by now, nothing is written and the answer says what is there. */
const ExpectParams = {
  expected_mtime: z.optional(Mtime),
  expected_sha256: z.optional(z.string().check(z.regex(/^[0-9a-fA-F]{64}$/))),
};

/** Every work with files has an end in time, and may meet the bounds of the machine. */
const WORK_ERRORS = ['forbidden_path', 'timeout', 'resource_limit'] as const;
const CHANGE_ERRORS = ['forbidden_path', 'timeout', 'concurrency_conflict', 'resource_limit'] as const;

const Written = { path: z.string(), bytes_written: z.int(), mtime: Mtime, created: z.boolean() };

export const FsRead = defineMethod({
  name: 'fs.read',
  summary:
    'Read a file, or a part of it by bytes. As text a range gives the characters that begin in it, so that ranges put together are the file: up to three bytes more than length, or, when offset was inside a character, from the next one on (offset in the answer says where). Without encoding, bytes that are no text come as base64. Without length the answer stays below 1 MiB.',
  params: z.object({
    ...SessionParams,
    path: Path,
    offset: z._default(Amount, 0),
    length: z.optional(Amount),
    encoding: z.optional(Encoding),
  }),
  result: z.object({
    path: z.string(),
    size: z.int(),
    mtime: Mtime,
    encoding: Encoding,
    content: z.string(),
    truncated: z.boolean(),
    offset: z.optional(z.int()),
  }),
  errors: WORK_ERRORS,
});

export const FsWrite = defineMethod({
  name: 'fs.write',
  summary: 'Write a file: replace it, create it, or add to it.',
  params: z.object({
    ...SessionParams,
    path: Path,
    content: z.string(),
    encoding: z._default(Encoding, 'utf8'),
    mode: z._default(z.enum(['create', 'replace', 'append']), 'replace'),
    mkdir_parents: z._default(z.boolean(), false),
    atomic: z._default(z.boolean(), true),
    ...ExpectParams,
  }),
  result: z.object(Written),
  errors: CHANGE_ERRORS,
});

export const FsList = defineMethod({
  name: 'fs.list',
  summary:
    'The entries of a folder, or of the whole tree below it. With gitignore, without .git and what .gitignore files leave out.',
  params: z.object({
    ...SessionParams,
    path: Path,
    recursive: z._default(z.boolean(), false),
    max_entries: z.optional(Amount),
    gitignore: z._default(z.boolean(), false),
  }),
  result: z.object({
    path: z.string(),
    entries: z.array(
      z.object({
        name: z.string(),
        path: z.string(),
        type: EntryType,
        size: z.nullable(z.int()),
        mtime: z.nullable(Mtime),
      }),
    ),
    truncated: z.boolean(),
  }),
  errors: WORK_ERRORS,
});

export const FsGlob = defineMethod({
  name: 'fs.glob',
  summary:
    'The paths that match a pattern: *, ?, [a-z], {a,b}, **. With gitignore, without .git and what .gitignore files leave out.',
  params: z.object({
    ...SessionParams,
    pattern: Path,
    cwd: z.optional(Path),
    max_matches: z.optional(Amount),
    dot: z._default(z.boolean(), true),
    gitignore: z._default(z.boolean(), false),
  }),
  result: z.object({ matches: z.array(z.string()), truncated: z.boolean() }),
  errors: WORK_ERRORS,
});

export const FsStat = defineMethod({
  name: 'fs.stat',
  summary: 'What is at a path; a link is told of, not followed.',
  params: z.object({ ...SessionParams, path: Path }),
  result: z.object({
    path: z.string(),
    exists: z.boolean(),
    type: z.optional(EntryType),
    size: z.optional(z.int()),
    mtime: z.optional(Mtime),
    mode: z.optional(z.string()),
    uid: z.optional(z.int()),
    gid: z.optional(z.int()),
    symlink_target: z.optional(z.string()),
  }),
  errors: ['forbidden_path', 'resource_limit'],
});

export const FsEdit = defineMethod({
  name: 'fs.edit',
  summary: 'Replace a text in a file. An empty old_string replaces or creates the whole file.',
  params: z.object({
    ...SessionParams,
    path: Path,
    old_string: z.string(),
    new_string: z.string(),
    replace_all: z._default(z.boolean(), false),
    ...ExpectParams,
  }),
  result: z.object({ ...Written, replacements: z.int() }),
  errors: CHANGE_ERRORS,
});

export const FsPatch = defineMethod({
  name: 'fs.patch',
  summary: 'Apply a patch to several files: all of it, or nothing.',
  params: z.object({ ...SessionParams, patch_text: z.string(), cwd: z.optional(Path) }),
  result: z.object({
    added: z.array(z.string()),
    updated: z.array(z.string()),
    deleted: z.array(z.string()),
    moved: z.optional(z.array(z.object({ from: z.string(), to: z.string() }))),
  }),
  errors: CHANGE_ERRORS,
});

export const FsMkdir = defineMethod({
  name: 'fs.mkdir',
  summary: 'Make a folder.',
  params: z.object({ ...SessionParams, path: Path, parents: z._default(z.boolean(), false) }),
  result: z.object({ path: z.string(), created: z.boolean() }),
  errors: WORK_ERRORS,
});

export const FsRemove = defineMethod({
  name: 'fs.remove',
  summary: 'Remove a file, a link, or a folder; with recursive, a folder and all that is in it.',
  params: z.object({
    ...SessionParams,
    path: Path,
    recursive: z._default(z.boolean(), false),
    missing_ok: z._default(z.boolean(), false),
  }),
  result: z.object({ path: z.string(), removed: z.int() }),
  errors: WORK_ERRORS,
});

const TwoPaths = {
  from: Path,
  to: Path,
  overwrite: z._default(z.boolean(), false),
  mkdir_parents: z._default(z.boolean(), false),
};

export const FsMove = defineMethod({
  name: 'fs.move',
  summary: 'Move or rename a file or folder.',
  params: z.object({ ...SessionParams, ...TwoPaths }),
  result: z.object({ from: z.string(), to: z.string() }),
  errors: CHANGE_ERRORS,
});

export const FsCopy = defineMethod({
  name: 'fs.copy',
  summary: 'Copy a file; with recursive, a folder and all that is in it.',
  params: z.object({ ...SessionParams, ...TwoPaths, recursive: z._default(z.boolean(), false) }),
  result: z.object({ from: z.string(), to: z.string(), entries: z.int() }),
  errors: CHANGE_ERRORS,
});

/** Names or paths of files; one without a slash is about names at any depth. */
const NamePatterns = z._default(z.array(Path).check(z.maxLength(MAX_NAME_PATTERNS)), []);

export const FsSearch = defineMethod({
  name: 'fs.search',
  summary:
    'The lines that have a text, or match a regular expression, in a file or in the files below a folder. Without .git and what .gitignore files leave out, unless gitignore is false; hidden files are searched unless hidden is false; links are not followed, binary files and files over 16 MiB are passed by and counted. column counts characters from 1; a long line is cut around the match. The answer stays below 1 MiB; truncated_by says which bound was reached.',
  params: z.object({
    ...SessionParams,
    query: z.string().check(z.minLength(1), z.maxLength(MAX_QUERY_CHARS)),
    path: z.optional(Path),
    regex: z._default(z.boolean(), false),
    case_sensitive: z._default(z.boolean(), true),
    include: NamePatterns,
    exclude: NamePatterns,
    gitignore: z._default(z.boolean(), true),
    hidden: z._default(z.boolean(), true),
    context: z._default(Amount, 0),
    max_matches: z.optional(Amount),
    max_per_file: z.optional(Amount),
    timeout_ms: z.optional(Amount),
  }),
  result: z.object({
    matches: z.array(
      z.object({
        path: z.string(),
        line: z.int(),
        column: z.int(),
        text: z.string(),
        cut: z.optional(z.boolean()),
        before: z.optional(z.array(z.string())),
        after: z.optional(z.array(z.string())),
      }),
    ),
    truncated: z.boolean(),
    truncated_by: z.optional(
      z.enum(['matches', 'answer_size', 'files', 'bytes', 'time', 'pattern', 'tree', 'per_file']),
    ),
    files_searched: z.int(),
    files_skipped: z.int(),
    binary_files: z.int(),
    large_files: z.int(),
    unreadable: z.int(),
  }),
  errors: WORK_ERRORS,
});
