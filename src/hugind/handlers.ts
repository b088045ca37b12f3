// Every method of the table with what it does.

import type { Handlers } from './call.js';
import { agentListHandler } from './methods/agent-list.js';
import { configHandlers } from './methods/config.js';
import { modelHandlers } from './methods/model.js';
import { missingHandlers } from './methods/not-there.js';
import { serverListHandler } from './methods/server-list.js';

export const handlers: Handlers = {
  ...configHandlers,
  ...modelHandlers,
  ...agentListHandler,
  ...serverListHandler,
  ...missingHandlers,
};
