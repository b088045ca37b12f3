// What a client asks of the session it has, or had. session.open is there from the start.

import type { Router } from '../../wire/jsonrpc/router.js';
import type { CallContext } from '../context.js';
import { ackEvents } from '../methods/session-ack.js';
import { closeSession } from '../methods/session-close.js';
import { pollEvents } from '../methods/session-events.js';
import { describeSession } from '../methods/session-info.js';
import { resumeSession } from '../methods/session-resume.js';
import { OPEN_SESSION_METHODS } from '../protocol/session.js';

export function addSessionMethods(router: Router<CallContext>): void {
  router.methods(OPEN_SESSION_METHODS, {
    SessionInfo: describeSession,
    SessionClose: closeSession,
    SessionResume: resumeSession,
    SessionAck: ackEvents,
    SessionEvents: pollEvents,
  });
}
