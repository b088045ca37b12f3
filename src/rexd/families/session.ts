// session.*, loaded by the first call but a plain session.open.

import type { Router } from '../../wire/jsonrpc/router.js';
import type { CallContext } from '../context.js';
import { ackEvents } from '../methods/session-ack.js';
import { closeSession } from '../methods/session-close.js';
import { pollEvents } from '../methods/session-events.js';
import { describeSession } from '../methods/session-info.js';
import { openSession } from '../methods/session-open.js';
import { resumeSession } from '../methods/session-resume.js';
import { SESSION_METHODS } from '../protocol/session.js';

export function addSessionMethods(router: Router<CallContext>): void {
  router.methods(SESSION_METHODS, {
    SessionOpen: openSession,
    SessionInfo: describeSession,
    SessionClose: closeSession,
    SessionResume: resumeSession,
    SessionAck: ackEvents,
    SessionEvents: pollEvents,
  });
}
