// What a session was given to be resumed, for the requests that only such a session answers.

import { rexdError } from '../errors.js';
import type { Session } from '../sessions.js';
import type { Resumption } from './resumption.js';

export function resumptionOf(session: Session): Resumption {
  if (session.resumption !== undefined) return session.resumption;
  throw rexdError('unsupported_capability', 'The session was not opened with resumable: true', {
    capability: 'resume',
    session_id: session.id,
  });
}
