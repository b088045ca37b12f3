// Methods of the table that this build cannot do yet, and says so.

import type { Handlers } from '../call.js';
import { HugindError } from '../errors.js';

type Missing = Omit<
  Pick<Handlers, Extract<keyof Handlers, `server.${string}` | `agent.${string}`>>,
  'agent.list' | 'server.list'
>;

function notThere(what: string): never {
  throw new HugindError('unavailable', `${what} cannot be done by this version of hugind yet`);
}

export const missingHandlers: Missing = {
  'agent.run': { run: async () => notThere('running agents') },
  'agent.install': { run: async () => notThere('installing agents') },
  'agent.remove': { run: async () => notThere('removing agents') },
  'server.start': { run: async () => notThere('starting servers') },
  'server.stop': { run: async () => notThere('stopping servers') },
};
