// The verbs of the system hub: the daemon itself.

import type { Command } from '../command.js';
import { confirm, fail, show } from '../result.js';

export const SYSTEM_VERBS: readonly Command[] = [
  {
    name: 'status',
    group: 'hub',
    usage: '/status',
    summary: 'the daemon: port, agents, sessions',
    run: ({ runtime }) => {
      const { port, agents, sessions } = runtime.services.daemon.status();
      return show(`stringd running on port ${port} — ${agents} agent(s), ${sessions} session(s)`);
    },
  },
  {
    name: 'stop',
    group: 'hub',
    usage: '/stop',
    summary: 'end the daemon',
    run: ({ runtime }) => {
      runtime.services.daemon.stop();
      return confirm('stringd stopping');
    },
  },
  {
    name: 'restart',
    group: 'hub',
    usage: '/restart',
    summary: 'not supported: stop it, and the next client starts it again',
    run: () =>
      fail(
        'COMMAND_UNSUPPORTED',
        '/restart is not supported.',
        'Use /stop; the next call of string starts the daemon again.',
      ),
  },
];
