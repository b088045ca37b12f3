// The methods session.info and session.close. session.open is there from the start.

import type { Router } from '../../wire/jsonrpc/router.js';
import type { CallContext } from '../context.js';
import { closeSession } from '../methods/session-close.js';
import { describeSession } from '../methods/session-info.js';
import { OPEN_SESSION_METHODS } from '../protocol/session.js';

export function addSessionMethods(router: Router<CallContext>): void {
  router.methods(OPEN_SESSION_METHODS, { SessionInfo: describeSession, SessionClose: closeSession });
}
