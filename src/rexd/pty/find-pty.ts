// The terminal that a request names.

import { rexdError } from '../errors.js';
import type { Session } from '../sessions.js';
import { PtyProcess } from './pty-process.js';

/** Also one that has ended, as long as its state is kept. */
export function findPty(session: Session, ptyId: string): PtyProcess {
  for (const process of session.processes.all())
    if (process instanceof PtyProcess && process.ptyId === ptyId) return process;
  throw rexdError('process_not_found', 'No such terminal in this session', { pty_id: ptyId });
}
