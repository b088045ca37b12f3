// Requests of the bus itself to a worker (a ping, a question whether it is ready), under ids that no client has.

import { randomBytes } from 'node:crypto';
import { LocalError } from '../../base/errors.js';
import type { Core } from './core.js';
import { Key } from './key.js';
import type { Worker } from './worker.js';

/** Nobody outside this process knows it, so no client can have such an id. */
const SECRET = randomBytes(9).toString('base64url');

export class OwnRequestError extends LocalError {
  override readonly name = 'OwnRequestError';
}

export function requestOfBus(
  core: Core,
  worker: Worker,
  method: string,
  params: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const id = Buffer.from(`"bus-${SECRET}-${core.newNumber()}"`);
  const key = new Key().set(id);
  return new Promise((resolve, reject) => {
    const fail = (code: string, message: string, facts: Record<string, unknown> = {}): void => {
      clearTimeout(timer);
      reject(new OwnRequestError(code, message, { facts: { method, worker: worker.name, ...facts } }));
    };
    const timer = setTimeout(() => {
      core.pending.take(key, worker);
      worker.lookIdle();
      fail('timeout', `no answer to ${method} within ${timeoutMs} ms`);
    }, timeoutMs);
    if (worker.state === 'gone') {
      fail('gone', 'the worker is gone');
      return;
    }
    core.pending.add(key, worker, {
      own: {
        fail: (error) => fail('gone', error.message),
        answer: (line) => {
          const { result, error } = JSON.parse(line) as { result?: unknown; error?: unknown };
          if (error !== undefined) fail('refused', `${method} was answered with an error`, { error });
          else {
            clearTimeout(timer);
            resolve(result);
          }
        },
      },
    });
    const text = params === undefined ? '' : `,"params":${JSON.stringify(params)}`;
    worker.send(
      Buffer.from(`{"jsonrpc":"2.0","id":${id.toString()},"method":${JSON.stringify(method)}${text}}\n`),
    );
  });
}
