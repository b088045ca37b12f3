// Fields that several methods of REXD v1 share.

import * as z from 'zod/mini';
import { Path } from './path.js';

export const SessionId = z.string().check(z.minLength(1), z.maxLength(128));
export const ProcessId = z.string().check(z.minLength(1), z.maxLength(128));
export const PtyId = z.string().check(z.minLength(1), z.maxLength(128));
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
  argv: z.optional(z.array(z.string()).check(z.minLength(1), z.maxLength(65_536))),
  shell: z._default(z.boolean(), false),
  command: z.optional(z.string()),
  login: z._default(z.boolean(), false),
  cwd: z.optional(Path),
  env: z.optional(z.record(z.string(), z.string())),
};
