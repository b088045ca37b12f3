// agent.list: the packages there are, by their folders.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import type { Handlers } from '../call.js';
import { isName } from '../names.js';

export const agentListHandler: Pick<Handlers, 'agent.list'> = {
  'agent.list': {
    run: async (_, { home }) => {
      const entries = await readdir(home.agents, { withFileTypes: true }).catch((thrown: unknown) => {
        if (errnoOf(thrown) === 'ENOENT') return [];
        throw thrown;
      });
      const names = entries
        .filter((entry) => entry.isDirectory() && isName(entry.name))
        .map(({ name }) => name);
      return { agents: names.sort().map((name) => ({ name, path: join(home.agents, name) })) };
    },
  },
};
