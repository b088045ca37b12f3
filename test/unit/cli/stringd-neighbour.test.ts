import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { MAX_NEIGHBOUR_BYTES, NEIGHBOUR_WAIT_MS, whoIsThere } from '../../../src/cli/stringd-neighbour.js';

async function serving<T>(
  answer: Parameters<typeof createServer>[1],
  use: (port: number) => Promise<T>,
): Promise<T> {
  const server: Server = createServer(answer as never);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** For who answers: a pause of this process is not a program that says nothing. */
const PATIENCE_MS = 60_000;

test('a stringd is named with its version and how to stop it', async () => {
  const said = await serving(
    (_req, res) => res.end('{"ok":true,"agents":2,"sessions":3,"version":"9.8.7"}'),
    (port) => whoIsThere(port, true, PATIENCE_MS),
  );
  expect(said).toMatch(
    /^stringd 9\.8\.7 is already running on port \d+ \(2 agents, 3 sessions\); stop it with: curl /,
  );
});

test.each([
  [
    'says something else',
    (_req: unknown, res: { end: (text: string) => void }) => res.end('<html>'),
    PATIENCE_MS,
  ],
  [
    'says too much',
    (_req: unknown, res: { end: (text: string) => void }) => res.end('x'.repeat(MAX_NEIGHBOUR_BYTES * 4)),
    PATIENCE_MS,
  ],
  ['says nothing for long', () => {}, NEIGHBOUR_WAIT_MS],
])('a program that %s is another program', async (_, answer, waitMs) => {
  expect(await serving(answer as never, (port) => whoIsThere(port, true, waitMs))).toMatch(
    /is taken by another program/,
  );
});

test('nobody is nobody', async () => {
  expect(await whoIsThere(1, false)).toBeUndefined(); // a port that no other test is given
});
