// rex and servers that are not to be trusted, or do not answer: what it shows, when it ends, and with which code.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bin, Program } from '../helpers/program.js';
import { rexHome } from '../helpers/rex.js';
import { until } from '../helpers/wait.js';

const home = rexHome();
const TITLE = '\u001b]0;owned\u0007\u009b2J';
let server: Server;

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    createInterface(socket).on('line', (line) => {
      const { id, method, params } = JSON.parse(line) as { id: number; method: string; params: object };
      const answer = answerTo(method, JSON.stringify(params));
      if (answer !== undefined) socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(join(home.folder, 'stranger'), resolve));
  const target = (socket: string): object => ({ transport: 'unix', socket: join(home.folder, socket) });
  mkdirSync(join(home.folder, 'config/rexd'), { recursive: true });
  writeFileSync(
    join(home.folder, 'config/rexd/targets.json'),
    JSON.stringify({ version: 1, targets: { stranger: target('stranger'), small: target('small') } }),
  );
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await home[Symbol.asyncDispose]();
});

/** Undefined: silence. */
function answerTo(method: string, params: string): object | undefined {
  if (method === 'session.open')
    return { result: { session_id: 's_1', protocol: 'rexd/1', limits: {}, workspace_roots: ['/'] } };
  if (method === 'session.close') return { result: {} };
  return params.includes('silent') ? undefined : { error: { code: -32602, message: `no ${TITLE}` } };
}

test.each([
  [['ls', 'stranger:/x']],
  [['read', 'stranger:/x', 'stranger:/y']],
  [['cp', '-r', 'stranger:/x', '.']],
  [['exec', 'stranger', '--', 'true']],
])('what a server says reaches no terminal as it is: %j', async (args) => {
  const { stdout, stderr, code } = await home.rex(args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('owned');
  // oxlint-disable-next-line no-control-regex -- these are what it is about
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test('--timeout holds for every command, and ends it with 124', async () => {
  const { code, stderr } = await home.rex(['--timeout', '300ms', 'ls', 'stranger:/silent']);
  expect([code, stderr]).toEqual([124, 'rex: gave up after 300 ms\n']);
});

test('Ctrl-C at a server that does not answer ends with 130', async () => {
  await using call = home.start(['ls', '--json', 'stranger:/silent']);
  await new Promise((resolve) => server.once('connection', resolve));
  call.child.kill('SIGINT');
  expect((await call.ended).code).toBe(130);
});

test('a log that is longer than a target lets be printed is shown whole, to the last character', async () => {
  const log = join(home.folder, 'audit.log');
  const lines = Array.from({ length: 300 }, (_, i) =>
    JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', method: 'fs.read', params: { path: `/ü${i}…` } }),
  );
  writeFileSync(log, `${lines.join('\n')}\n`);
  const socket = join(home.folder, 'small');
  const args = ['--unix', socket, '--root', home.folder, '--limit', 'max_output_bytes=4099'];
  await using daemon = new Program([process.execPath, bin('rexd'), ...args], { env: home.env });
  await until(() => daemon.stderr.includes('listening on'), 'the daemon to listen');
  const { stdout, stderr, code } = await home.rex(['audit', 'small', '--file', log, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toBe(`${lines.join('\n')}\n`);
  const gone = await home.rex(['audit', 'small', '--file', home.folder]);
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('could not be read to its end')]);
});
