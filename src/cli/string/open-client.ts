// The client of a call of `string`: its daemon, its agent, and connections that cost little to open.

import { StringClient } from '../../client/string/string-client.js';
import { socketFetch } from '../../client/string/socket-fetch.js';
import type { StringContext } from './context.js';

export function openClient({ config, agent, flags }: StringContext): StringClient {
  const home = process.env['STRING_HOME']?.trim();
  return new StringClient({
    port: config.port,
    agentId: agent.id,
    fetch: socketFetch,
    autoStart: !flags.has('no-start'),
    ...(home !== undefined && home !== '' && { home }),
  });
}
