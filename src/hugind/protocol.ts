// The bridge as data: router, MCP tools, documentation and conformance read these tables.

import * as z from 'zod/mini';
import { AgentInstall, AgentList, AgentRemove, AgentRun } from './protocol/agent.js';
import {
  ConfigDefaults,
  ConfigInfo,
  ConfigInit,
  ConfigList,
  ConfigRemove,
  ConfigValidate,
} from './protocol/config.js';
import type { BridgeMethod, EventName } from './protocol/define.js';
import { ModelAdd, ModelList, ModelRemove, ModelShow } from './protocol/model.js';
import { RequestCancel } from './protocol/request.js';
import { ServerList, ServerStart, ServerStop } from './protocol/server.js';

export const SCHEMA_VERSION = '1';

/** The seventeen of the bridge's specification, by which MCP has them as tools too. */
export const METHODS = {
  'agent.list': AgentList,
  'agent.run': AgentRun,
  'agent.install': AgentInstall,
  'agent.remove': AgentRemove,
  'config.list': ConfigList,
  'config.validate': ConfigValidate,
  'config.info': ConfigInfo,
  'config.remove': ConfigRemove,
  'config.defaults': ConfigDefaults,
  'config.init': ConfigInit,
  'model.list': ModelList,
  'model.show': ModelShow,
  'model.add': ModelAdd,
  'model.remove': ModelRemove,
  'server.list': ServerList,
  'server.start': ServerStart,
  'server.stop': ServerStop,
} as const satisfies Readonly<Record<string, BridgeMethod>>;

/** Of NDJSON alone: MCP has its own way. */
export const CONTROL_METHODS = { 'request.cancel': RequestCancel } as const;

export type MethodName = keyof typeof METHODS;

export const EVENTS = {
  status: {
    summary: 'A milestone: `message` for downloads and agents, `status` for servers.',
    params: z.object({ message: z.optional(z.string()), status: z.optional(z.string()) }),
  },
  progress: {
    summary: 'How far a download is; at most ten a second for each file, the first and the last always.',
    params: z.object({
      repo: z.string(),
      file: z.string(),
      downloaded: z.int(),
      total: z.optional(z.int()),
    }),
  },
  log: { summary: 'A line that an agent printed.', params: z.object({ message: z.string() }) },
  agent_event: {
    summary: 'A step of an agent’s loop; `type` says which.',
    params: z.object({ type: z.string() }),
  },
} as const satisfies Readonly<Record<EventName, { summary: string; params: z.ZodMiniObject }>>;
