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

test('a stringd is named with its version and how to stop it', async () => {
  const said = await serving(
    (_req, res) => res.end('{"ok":true,"agents":2,"sessions":3,"version":"9.8.7"}'),
    (port) => whoIsThere(port, true),
  );
  expect(said).toMatch(
    /^stringd 9\.8\.7 is already running on port \d+ \(2 agents, 3 sessions\); stop it with: curl /,
  );
});

test.each([
  ['says something else', (_req: unknown, res: { end: (text: string) => void }) => res.end('<html>')],
  [
    'says too much',
    (_req: unknown, res: { end: (text: string) => void }) => res.end('x'.repeat(MAX_NEIGHBOUR_BYTES * 4)),
  ],
  ['says nothing for long', () => {}],
])('a program that %s is another program', async (_, answer) => {
  const started = Date.now();
  expect(await serving(answer as never, (port) => whoIsThere(port, true))).toMatch(
    /is taken by another program/,
  );
  expect(Date.now() - started).toBeLessThan(NEIGHBOUR_WAIT_MS * 5);
});

test('nobody is nobody', async () => {
  const port = await serving(
    () => {},
    async (port) => port,
  );
  expect(await whoIsThere(port, false)).toBeUndefined();
});
