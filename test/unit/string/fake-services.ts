// Stands for the daemon around a runtime: an inbox and a directory in memory.

import { LocalError } from '../../../src/base/errors.js';
import type { AgentPlace, InboxEvent, RuntimeServices } from '../../../src/string/services.js';

export interface FakeDaemon extends RuntimeServices {
  readonly inbox: InboxEvent[];
  readonly known: Map<string, AgentPlace>;
  readonly stops: number[];
}

export function fakeServices(): FakeDaemon {
  const inbox: InboxEvent[] = [];
  const known = new Map<string, AgentPlace>();
  const stops: number[] = [];
  let token = 1;
  const of = (agentId: string): InboxEvent[] => inbox.filter((event) => event.agentId === agentId);
  return {
    inbox,
    known,
    stops,
    events: {
      list: (agentId, { all, limit }) => {
        const events = of(agentId)
          .filter(({ status }) => all || status !== 'ack')
          .toReversed();
        return Promise.resolve({ total: events.length, events: events.slice(0, limit) });
      },
      read: (agentId, id) => Promise.resolve(of(agentId).find((event) => event.id === id)),
      ack: (agentId, id) => {
        const at = inbox.findIndex((event) => event.id === id && event.agentId === agentId);
        const event = inbox[at];
        if (event !== undefined) inbox[at] = { ...event, status: 'ack' };
        return Promise.resolve(event !== undefined);
      },
      clear: (agentId, { all }) => {
        const gone = of(agentId).filter(({ status }) => all || status === 'ack');
        for (const event of gone) inbox.splice(inbox.indexOf(event), 1);
        return Promise.resolve(gone.length);
      },
    },
    agents: {
      configFile: '/cfg/config.json',
      list: () => Promise.resolve([...known.values()]),
      register: ({ id, home, allowedPaths }) => {
        if (id.includes('/'))
          return Promise.reject(new LocalError('bad_agent_id', `Invalid agent id: ${id}`));
        const before = known.get(id);
        const agent = {
          id,
          home: home ?? before?.home ?? `/homes/${id}`,
          allowedPaths: allowedPaths ?? before?.allowedPaths ?? [],
        };
        known.set(id, agent);
        return Promise.resolve({ agent, created: before === undefined });
      },
      remove: (id) => Promise.resolve(known.delete(id)),
      use: (_id, { local }) =>
        Promise.resolve({ file: local ? '/here/.string/config.json' : '/cfg/config.json' }),
    },
    daemon: {
      status: () => ({ port: 3923, agents: known.size, sessions: 3 }),
      stop: () => void stops.push(Date.now()),
      webhookUrl: () => Promise.resolve(`http://127.0.0.1:3923/webhook/wh_${token}`),
      rotateWebhook: () => Promise.resolve(`http://127.0.0.1:3923/webhook/wh_${(token += 1)}`),
    },
  };
}
