// What the command line of String says when something is not as it should be.

import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { REACH_TIMEOUT_MS } from '../../../src/client/string/browser.js';
import { LOOK_TIMEOUT_MS } from '../../../src/cli/string/daemon-control.js';
import { string } from '../kit/string-cli.js';
import { shareStringd } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();

/** Something that listens, as if the daemon were there. */
async function withServer(server: Server, body: (place: { base: string; port: number }) => Promise<void>) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await body({ base: shared().base, port: (server.address() as AddressInfo).port });
  } finally {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  }
}

verifies('string/cli/json-failures', async () => {
  const stringd = shared();
  const nobody = { base: stringd.base, port: 1 };
  const rows = [
    [stringd, ['--timeout', '300ms', 'notes', '/exec sleep 600'], 124, 'notes', 'TIMEOUT'],
    [nobody, ['--no-start', '/info'], 1, 'main', 'UNREACHABLE'],
    [nobody, ['bad!name', '/info'], 2, null, 'USAGE'],
    [nobody, ['--agent', '../x', 'notes', '/info'], 2, 'notes', 'USAGE'],
    [nobody, ['--jsno', 'notes', '/info'], 2, 'notes', 'USAGE'],
  ] as const;
  for (const [place, args, code, topic, named] of rows) {
    const reply = await string(place, ['--json', ...args]);
    expect([args, reply.code, JSON.parse(reply.stdout)]).toEqual([
      args,
      code,
      expect.objectContaining({ ok: false, topic, code: named, content: expect.stringMatching(/./u) }),
    ]);
    expect(reply.stderr).toMatch(/^string: /u);
  }
  const input = '/topic bad!\n/set {a} = 1\n/set <<END\n{b} = 2\n';
  const piped = await string(stringd, ['--json', 'notes'], { input });
  expect(
    piped.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { ok: false, code: 'INVALID_TARGET' },
    { ok: true, topic: 'notes' },
    { ok: false, topic: 'notes', code: 'INVALID_PAYLOAD' },
  ]);
});

verifies('string/cli/impossible-names', async () => {
  const place = { base: shared().base, port: 1 }; // nobody is asked
  for (const [args, env, told] of [
    [['--agent', '../x', '/info'], {}, '--agent "../x"'],
    [['/info'], { STRING_AGENT_ID: 'a b' }, 'STRING_AGENT_ID="a b"'],
    [['--request-id', 'a\nb', '/info'], {}, '--request-id: expected one line'],
    [['--request-id', 'x'.repeat(257), '/info'], {}, '--request-id: expected one line'],
  ] as const) {
    const { code, stdout, stderr } = await string(place, args, { env });
    expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringContaining(told)]);
  }
});

verifies('string/cli/unfinished-body', async () => {
  const stringd = shared();
  for (const [topic, input] of [
    ['notes', '/set {a} = 1\n/set <<END\n{b} = 2\n'],
    ['bash:dev', 'cat > b.txt <<END\nhalf of a te'],
  ] as const) {
    const { code, stderr } = await string(stringd, [topic], { input });
    expect([code, stderr]).toEqual([1, expect.stringContaining('the input ended before the line END')]);
  }
  expect((await string(stringd, ['--raw', 'notes', '/set'])).stdout).toBe('Variables\n---\n{a} = "1"\n');
  expect((await string(stringd, ['/ls'])).stdout).not.toContain('b.txt');
});

verifies('string/cli/foreign-port', async () => {
  const page = '<html><script>alert(1)</script> not found';
  const server = createHttpServer((_, res) => res.writeHead(404, { 'Content-Type': 'text/html' }).end(page));
  await withServer(server, async (place) => {
    const { code, stdout, stderr } = await string(place, ['--no-start', '/info']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('does not answer as a stringd does');
    expect(stderr).toContain(`Another program has port ${place.port}`);
    expect(stderr).not.toContain('html');
  });
});

verifies('string/cli/silent-port', async () => {
  await withServer(createServer(), async (place) => {
    const unused = { ...place, base: join(place.base, 'unused') };
    const cwd = place.base;
    const asking = string(place, ['--no-start', '/info']);
    const replies = ['status', 'stop'].map((verb) => string(unused, ['daemon', verb], { cwd }));
    for (const { code, stderr } of await Promise.all(replies))
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`says nothing for ${LOOK_TIMEOUT_MS / 1000} s`),
      ]);
    const asked = await asking;
    expect([asked.code, asked.stdout]).toEqual([1, '']);
    expect(asked.stderr).toContain(`nothing was said for ${REACH_TIMEOUT_MS / 1000} s`);
    expect(asked.stderr).toContain(`Another program has port ${place.port}`);
  });
});

verifies('string/cli/odd-folder', async () => {
  const place = { base: shared().base, port: 1 };
  for (const verb of ['status', 'stop'])
    for (const STRING_DATA_DIR of ['/dev/null', '/proc/self/mem/x', `/tmp/${'x'.repeat(300)}`]) {
      const { code, stderr } = await string(place, ['daemon', verb], { env: { STRING_DATA_DIR } });
      expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be used as the data folder')]);
      expect(stderr).not.toMatch(/^ +at /mu);
    }
});

verifies('string/cli/mcp-config', async () => {
  const place = { base: shared().base, port: 4000 };
  const env = { STRING_DATA_DIR: 'odd/data', STRING_ROOT: '' };
  for (const client of ['claude', 'cursor', 'vscode']) {
    const { stdout } = await string(place, ['--ack-events', 'mcp', 'config', '--client', client], { env });
    const { mcpServers, servers } = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
    expect((mcpServers ?? servers)?.['string']).toMatchObject({
      args: expect.arrayContaining(['--mcp', '--ack-events']),
      env: { STRING_PORT: '4000', STRING_DATA_DIR: join(place.base, 'odd/data'), STRING_AGENT_ID: 'me' },
    });
  }
  const codex = await string(place, ['mcp', 'config', '--client', 'codex'], { env });
  expect(codex.stdout).toContain(`STRING_DATA_DIR = "${join(place.base, 'odd/data')}"`);
});

verifies('string/cli/send-input', async () => {
  const stringd = shared();
  const waiting = await string(stringd, ['bash:dev', 'read -rs -p "Password: " x; echo "[$x]"']);
  expect(waiting.stdout).toContain('WAITING_FOR_INPUT');
  expect(waiting.stderr).toContain('string bash:dev //send -');
  let sent = await string(stringd, ['bash:dev', '//send', '-'], { input: ' s3cret $x\n' });
  if (sent.stdout.includes('WAITING_FOR_INPUT')) sent = await string(stringd, ['bash:dev', '//wait']); // no time for it
  expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining('[s3cret $x]')]);
  await stringd.ask('/sessions/me/bash:dev', { method: 'DELETE' });
});
