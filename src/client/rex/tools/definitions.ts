// The tools of rex as data. Every word here is in every conversation: together they stay below 4 KB.

import * as z from 'zod/mini';
import type { ToolDefinition } from '../../../mcp/tool.js';

/** Unless the call says otherwise, or the target allows less. */
export const DEFAULT_COMMAND_MS = 120_000;
/** Lines that one `read` gives. */
export const MAX_READ_LINES = 2000;

const READ_ONLY = { readOnlyHint: true };
const PATH_ALIASES = {
  file_path: 'path',
  filePath: 'path',
  filename: 'path',
  file: 'path',
  directory: 'path',
  dir: 'path',
};

const text = (description: string) => z.string().check(z.describe(description));
const some = (description: string) => z.optional(text(description));
const yes = (description: string) => z.optional(z.boolean().check(z.describe(description)));

function define<Input extends z.ZodMiniObject>(definition: ToolDefinition<Input>): ToolDefinition<Input> {
  return definition;
}

export const Bash = define({
  name: 'bash',
  title: 'Run a command',
  description:
    'Run a shell command on the target and wait for its end. Each call is a new shell in the workspace folder; it has no terminal, and its stdin is empty unless given. Long output is cut in the middle: the result says how to read the rest.',
  input: z.object({
    command: z.string(),
    cwd: some('Folder to run in'),
    timeout_ms: z.optional(
      z
        .int()
        .check(
          z.gte(1),
          z.describe(`The command is killed after this long, ${DEFAULT_COMMAND_MS} by default`),
        ),
    ),
    stdin: z.optional(z.string()),
  }),
  aliases: { cmd: 'command', script: 'command', workdir: 'cwd', timeout: 'timeout_ms', input: 'stdin' },
});

export const Read = define({
  name: 'read',
  title: 'Read a file',
  description: `Read a text file, or an image. Lines come numbered, at most ${MAX_READ_LINES} in one call.`,
  input: z.object({
    path: z.string(),
    start_line: z.optional(z.int().check(z.describe('From 1; negative counts from the end'))),
    end_line: z.optional(z.int().check(z.gte(1))),
  }),
  annotations: READ_ONLY,
  aliases: { ...PATH_ALIASES, offset: 'start_line', line: 'start_line' },
});

export const Write = define({
  name: 'write',
  title: 'Write a file',
  description:
    'Write a whole file, with the folders it needs. Refused if somebody else has changed the file since you read it.',
  input: z.object({
    path: z.string(),
    content: z.string(),
    mode: z.optional(
      z
        .enum(['replace', 'create', 'append'])
        .check(z.describe('replace by default; create refuses a file that is there')),
    ),
  }),
  aliases: { ...PATH_ALIASES, contents: 'content', text: 'content' },
});

export const Edit = define({
  name: 'edit',
  title: 'Edit a file',
  description:
    'Replace a text in a file. old_string must be exactly as in the file, without line numbers, and occur once. Refused if somebody else has changed the file since you read it.',
  input: z.object({
    path: z.string(),
    old_string: z.string().check(z.minLength(1)),
    new_string: z.string(),
    replace_all: yes('Replace every occurrence'),
  }),
  aliases: {
    ...PATH_ALIASES,
    old_str: 'old_string',
    old_text: 'old_string',
    oldString: 'old_string',
    new_str: 'new_string',
    new_text: 'new_string',
    newString: 'new_string',
    replaceAll: 'replace_all',
  },
});

export const List = define({
  name: 'list',
  title: 'List a folder',
  description: 'List a folder; with recursive the tree below it, without what .gitignore leaves out.',
  input: z.object({ path: some('The workspace folder by default'), recursive: z.optional(z.boolean()) }),
  annotations: READ_ONLY,
  aliases: PATH_ALIASES,
});

export const Glob = define({
  name: 'glob',
  title: 'Find files by name',
  description: 'Find files by a pattern like src/**/*.{ts,tsx}, without what .gitignore leaves out.',
  input: z.object({ pattern: z.string().check(z.minLength(1)), path: some('Folder to look in') }),
  annotations: READ_ONLY,
  aliases: { ...PATH_ALIASES, cwd: 'path', query: 'pattern' },
});

export const Search = define({
  name: 'search',
  title: 'Search in files',
  description:
    'Find lines in files by a regular expression (JavaScript syntax), without what .gitignore leaves out.',
  input: z.object({
    query: z.string().check(z.minLength(1)),
    path: some('File or folder to search'),
    regex: yes('false to search for the text as it is'),
    ignore_case: z.optional(z.boolean()),
    include: z.optional(z.array(z.string()).check(z.describe('Names or globs of files, like *.ts'))),
    context: z.optional(z.int().check(z.gte(0), z.lte(20), z.describe('Lines to show around each match'))),
  }),
  annotations: READ_ONLY,
  aliases: {
    ...PATH_ALIASES,
    pattern: 'query',
    glob: 'include',
    cwd: 'path',
    case_insensitive: 'ignore_case',
  },
});

export const REX_TOOLS: readonly ToolDefinition[] = [Bash, Read, Write, Edit, List, Glob, Search];
