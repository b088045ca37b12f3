// agent.*: packages of instructions and tools that work with a model, in a sandbox.

import * as z from 'zod/mini';
import { nameSchema, pathSchema } from '../names.js';
import { defineBridgeMethod } from './define.js';

/** Words of a call of an agent. */
export const MAX_AGENT_ARGS = 1024;

const permission = z.object({ allow: z.boolean(), details: z.optional(z.array(z.string())) });

export const AgentList = defineBridgeMethod({
  name: 'agent.list',
  summary: 'The agents that are installed, by name.',
  effect: 'reads',
  params: {},
  result: { agents: z.array(z.object({ name: z.string(), path: z.string() })) },
});

export const AgentRun = defineBridgeMethod({
  name: 'agent.run',
  summary: 'Run an agent, by the path of its package or its name.',
  effect: 'adds',
  params: {
    path: pathSchema,
    args: z._default(z.array(z.string()).check(z.maxLength(MAX_AGENT_ARGS)), []),
    approve_permissions: z.optional(z.boolean()),
  },
  result: { status: z.string(), result: z.unknown() },
  errors: [
    'not_found',
    'permissions_not_approved',
    'permission_denied',
    'timeout',
    'upstream_error',
    'unavailable',
  ],
  events: ['status', 'log', 'agent_event'],
});

export const AgentInstall = defineBridgeMethod({
  name: 'agent.install',
  summary: 'Install an agent from a folder, a manifest, a zip file or an address.',
  effect: 'adds',
  params: {
    path: pathSchema,
    approve_permissions: z._default(z.boolean(), false),
    overwrite: z._default(z.boolean(), false),
  },
  result: {
    name: z.string(),
    path: z.string(),
    permissions: z.object({ network: permission, filesystem: permission, shell: permission }),
  },
  errors: ['not_found', 'already_exists', 'permissions_not_approved', 'upstream_error', 'unavailable'],
});

export const AgentRemove = defineBridgeMethod({
  name: 'agent.remove',
  summary: 'Remove an installed agent.',
  effect: 'removes',
  params: { name: nameSchema },
  result: { name: z.string(), path: z.string(), removed: z.boolean() },
  errors: ['not_found', 'permission_denied', 'unavailable'],
});
