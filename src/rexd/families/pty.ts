// pty.*, loaded by the first call: few sessions need a terminal.

import type { Router } from '../../wire/jsonrpc/router.js';
import type { CallContext } from '../context.js';
import { closeTerminal } from '../methods/pty-close.js';
import { inputTerminal } from '../methods/pty-input.js';
import { openTerminal } from '../methods/pty-open.js';
import { resizeTerminal } from '../methods/pty-resize.js';
import { PtyClose, PtyInput, PtyOpen, PtyResize } from '../protocol/pty.js';

export function addPtyMethods(router: Router<CallContext>): void {
  router
    .method(PtyOpen, openTerminal)
    .method(PtyInput, inputTerminal)
    .method(PtyResize, resizeTerminal)
    .method(PtyClose, closeTerminal);
}
