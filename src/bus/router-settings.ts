// What the router is told of a configuration.

import type { BusConfig } from './config/schema.js';
import type { RouterSettings } from './route/settings.js';

export function toRouterSettings(config: BusConfig): RouterSettings {
  const { limits } = config;
  return {
    limits: {
      maxInputBufferBytes: limits.max_input_buffer,
      maxOutputQueueBytes: limits.max_output_queue,
      maxWorkerQueueBytes: limits.max_worker_queue,
      maxPending: limits.max_pending,
      maxSessions: limits.max_sessions,
      maxWaitingBytes: limits.max_waiting,
      waitTimeoutMs: limits.wait_timeout_ms,
      backpressureTimeoutMs: limits.backpressure_timeout_sec * 1000,
      maxRubbishLines: limits.max_rubbish_lines,
    },
    pools: config.pools.map(({ id, keys, methods, session }) => ({ id, keys, methods, session })),
    routes: config.routes,
    idCollision: config.idCollision,
    sessionOwnership: config.sessionOwnership,
    notifyLoss: config.notifyLoss,
    lenient: config.lenient,
    ...(config.defaultPool !== undefined && { defaultPool: config.defaultPool }),
    ...(config.sessionTtlSec !== undefined && { sessionTtlMs: config.sessionTtlSec * 1000 }),
  };
}
