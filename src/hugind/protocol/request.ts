// request.cancel: what NDJSON has in place of MCP's notifications/cancelled.

import * as z from 'zod/mini';
import { defineBridgeMethod } from './define.js';

export const RequestCancel = defineBridgeMethod({
  name: 'request.cancel',
  summary: 'Call off a request that is being answered, by its id. It is then answered with `cancelled`.',
  effect: 'removes',
  params: { id: z.union([z.string(), z.number()]) },
  result: { cancelled: z.boolean() },
});
