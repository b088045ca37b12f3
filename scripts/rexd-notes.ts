// What the page of REXD v1 says beside the tables: when each error comes and what its data holds, and what a schema cannot tell.

import type { ErrorName } from '../src/rexd/protocol/errors.js';
import type { ErrorNote } from './protocol-page.js';

export const ERROR_NOTES: Readonly<Record<ErrorName, ErrorNote>> = {
  unauthorized: {
    when: 'The command policy does not allow the command.',
    data: '`rule` that refused it, `reason` in words, `class` of the command',
  },
  forbidden_path: {
    when: 'A path, or where it leads, lies outside the roots of the session, or must not be touched.',
    data: '`path`, `allowed_roots`; inside a root also `reason`: `root` (a root itself), `withheld` (kept by the server for itself), `hard_link` (see `security.hard_links`)',
  },
  timeout: {
    when: 'The time of the request was up before its work was done. Not for programs: their end is told by events.',
    data: '`timeout_ms`',
  },
  output_limit_exceeded: {
    when: '`exec.read` of output that was cut off because it was too much.',
    data: '`kept`: how many bytes there are',
  },
  process_not_found: {
    when: 'No such process or terminal in this session, or not any more.',
    data: '`process_id` or `pty_id`',
  },
  concurrency_conflict: {
    when: 'The file is not the one that was expected, or has changed while it was worked on. Nothing was written.',
    data: '`path`, `current`: `mtime`, `size`, `sha256` of what is there, or null',
  },
  unsupported_capability: {
    when: 'The server cannot, or by its configuration must not, do this: a shell, a terminal, detaching, a sandbox.',
    data: '`capability`; of `session.open` also `capabilities`',
  },
  resource_limit: {
    when: 'A limit of the session or of the server is reached, or the machine has run out of something.',
    data: '`limit` and `value`, or `path`, `size` and `limit`, or `reason` and `errno`',
  },
};

/** What `data.reason` of -32602 may be. */
export const REASONS_OF_INVALID_PARAMS: readonly (readonly [string, string])[] = [
  ['`not_found`, `not_a_file`, `not_a_directory`, `already_exists`, `not_empty`', 'what is at the path'],
  ['`access_denied`, `file_system`, `link_loop`', 'what the system says; `errno` where there is one'],
  ['`invalid_path`, `invalid_pattern`, `invalid_range`', 'what was written in the request'],
  ['`program_not_found`, `program_not_executable`, `interpreter_not_found`', 'the program; with `program`'],
  ['`cwd_not_found`, `cwd_not_directory`, `cwd_forbidden`', 'the working directory; with `cwd`'],
  ['`arguments_too_long`, `bad_argument`, `launch_failed`', 'the start of a program'],
  ['`input_closed`', 'the input of a process that takes none any more'],
];

export const CODES_OF_JSON_RPC: readonly (readonly [string, string, string])[] = [
  ['-32700', 'The line is not JSON, or not UTF-8. The id of the answer is null.', '`offset`, `reason`'],
  [
    '-32600',
    'JSON, but no request: a wrong `jsonrpc`, `id` or `method`, a line too long, a batch too long.',
    '`reason`',
  ],
  ['-32601', 'No such method.', '`method`'],
  [
    '-32602',
    'The params are wrong, or cannot be followed: a missing file, a program that is not there, a session that is not open.',
    '`issues`: `path` and `message` of each wrong field; or `session_id`; or `reason`, see below',
  ],
  ['-32603', 'A fault of the server. Its log says more.', '–'],
  ['-32800', 'The request was called off with `$/cancelRequest`.', '–'],
];

export const METHOD_NOTES: Readonly<Record<string, string>> = {
  'exec.start': [
    'Either `argv`, or `shell: true` with `command`. `env` is added to the variables commands are given. Without `stdin` and `stdin_open` the program has no input.',
    'The events of a process come after the answer that names it, its output in the order of `seq`, `exec.exit` last.',
  ].join(' '),
  'exec.kill':
    '`signal` by its name, with or without `SIG`, or by its number; one the system does not have is refused.',
  'fs.patch': [
    'The text begins with `*** Begin Patch`, ends with `*** End Patch`, and between them has for each file one of:',
    '',
    '- `*** Add File: PATH`, then the lines of the file, each behind a `+`',
    '- `*** Delete File: PATH`',
    '- `*** Update File: PATH`, then, to rename it, `*** Move to: PATH`, then hunks',
    '',
    'A hunk begins with `@@`, which may be followed by a line that stands somewhere before the place (a heading, a signature; several `@@` lines narrow it down). Its lines begin with a space (is there and stays), `-` (goes) or `+` (comes). `*** End of File` after it says that it ends where the file does. A place is looked for as written, then without spaces at line ends, then without those at both ends; one that is not there is `-32602` with the line of the patch. Paths are relative to `cwd`.',
    '',
    '```text',
    '*** Begin Patch',
    '*** Update File: src/app.py',
    '@@ def main():',
    '-    print("hi")',
    '+    print("hello")',
    '*** End Patch',
    '```',
  ].join('\n'),
};
