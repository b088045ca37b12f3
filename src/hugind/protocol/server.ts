// server.*: model servers, each a process of its own.

import * as z from 'zod/mini';
import { nameSchema } from '../names.js';
import { defineBridgeMethod } from './define.js';

const port = z.int().check(z.minimum(1), z.maximum(65_535));

export const ServerList = defineBridgeMethod({
  name: 'server.list',
  summary: 'One row for each config, and whether its server is up.',
  effect: 'reads',
  params: {},
  result: {
    servers: z.array(
      z.object({
        name: z.string(),
        host: z.string(),
        port: z.int(),
        status: z.enum(['up', 'down', 'starting']),
        config_name: z.optional(z.string()),
        pid: z.optional(z.int()),
        url: z.optional(z.string()),
      }),
    ),
  },
});

export const ServerStart = defineBridgeMethod({
  name: 'server.start',
  summary:
    'Start the server of a config. `started`, `start_failed` or `start_timeout` follows as a status event of the same id.',
  effect: 'adds',
  params: { config: nameSchema, port: z.optional(port) },
  result: { status: z.enum(['starting']) },
  errors: ['not_found', 'already_exists', 'busy', 'unavailable'],
  events: ['status'],
});

export const ServerStop = defineBridgeMethod({
  name: 'server.stop',
  summary:
    'Stop the server of a config. `stopped`, `already_stopped` or `stop_timeout` follows as a status event of the same id.',
  effect: 'removes',
  params: { config: nameSchema },
  result: { config: z.string(), stopped: z.boolean(), pids: z.array(z.int()) },
  errors: ['not_found', 'busy', 'unavailable'],
  events: ['status'],
});
