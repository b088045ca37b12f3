// Who has the port that we wanted: another stringd, or something else.

import { get } from 'node:http';

/** How long the one who is there may take to say who it is: a stringd on a busy machine is still a stringd. */
export const NEIGHBOUR_WAIT_MS = 3000;
/** Of its answer: a stringd needs no more. */
export const MAX_NEIGHBOUR_BYTES = 4096;

/** A sentence that says what is in the way, and what can be done; undefined when nobody is there who would be. */
export async function whoIsThere(
  port: number,
  isTaken: boolean,
  waitMs = NEIGHBOUR_WAIT_MS,
): Promise<string | undefined> {
  const health = await askHealth(port, waitMs);
  if (health === undefined)
    return isTaken
      ? `port ${port} is taken by another program; choose one with --port or STRING_PORT`
      : undefined;
  const { version, agents, sessions } = health;
  const what = `stringd${typeof version === 'string' ? ` ${version}` : ''}`;
  return `${what} is already running on port ${port} (${Number(agents)} agents, ${Number(sessions)} sessions); stop it with: curl -X POST http://127.0.0.1:${port}/shutdown`;
}

interface Health {
  readonly ok?: unknown;
  readonly version?: unknown;
  readonly agents?: unknown;
  readonly sessions?: unknown;
}

function askHealth(port: number, timeout: number): Promise<Health | undefined> {
  return new Promise((resolve) => {
    const nobody = (): void => resolve(undefined);
    const req = get({ host: '127.0.0.1', port, path: '/health', agent: false, timeout });
    req.once('timeout', () => req.destroy());
    req.once('error', nobody);
    req.once('close', nobody);
    req.once('response', (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_NEIGHBOUR_BYTES) req.destroy();
      });
      res.once('end', () => resolve(readHealth(text)));
    });
  });
}

function readHealth(text: string): Health | undefined {
  try {
    const value = JSON.parse(text) as Health | null;
    return value?.ok === true && value.sessions !== undefined ? value : undefined;
  } catch {
    return undefined;
  }
}
