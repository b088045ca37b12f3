// Fields that several methods of REXD v1 share.

import * as z from 'zod/mini';
import { Path } from './path.js';

/** Far more than an id of ours has; a longer one is none, and is not looked for. */
export const MAX_ID_CHARS = 128;
/** Words of a command; the kernel takes no more bytes than these would need. */
export const MAX_ARGV_WORDS = 65_536;

export const SessionId = z.string().check(z.minLength(1), z.maxLength(MAX_ID_CHARS));
export const ProcessId = z.string().check(z.minLength(1), z.maxLength(MAX_ID_CHARS));
export const PtyId = z.string().check(z.minLength(1), z.maxLength(MAX_ID_CHARS));
export const Encoding = z.enum(['utf8', 'base64']);
/** Whole and not negative; 0 stands for "as the server has it". */
export const Amount = z.int().check(z.gte(0));
/** Milliseconds since 1970, as every mtime is given and taken. */
export const Mtime = z.int();

export const SessionParams = { session_id: SessionId };
export const ProcessParams = { session_id: SessionId, process_id: ProcessId };
export const Ok = z.object({ ok: z.boolean() });

/** How a program is named, for exec.start and pty.open alike. */
export const ProgramParams = {
  argv: z.optional(z.array(z.string()).check(z.minLength(1), z.maxLength(MAX_ARGV_WORDS))),
  shell: z._default(z.boolean(), false),
  command: z.optional(z.string()),
  login: z._default(z.boolean(), false),
  cwd: z.optional(Path),
  env: z.optional(z.record(z.string(), z.string())),
};
