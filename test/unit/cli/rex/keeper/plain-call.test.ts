// A command for a caller that only passes bytes on, with a server that says nothing of its own.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { MAX_WAITING_INPUT_BYTES, runPlainly } from '../../../../../src/cli/rex/keeper/plain-call.js';
import { START_ID } from '../../../../../src/cli/rex/keeper/words.js';
import { until } from '../../../../helpers/wait.js';

let server: Server;
let ends: Socket[] = [];
afterEach(() => {
  for (const end of ends) end.destroy();
  ends = [];
  server.close();
});

async function socketPair(): Promise<[Socket, Socket]> {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const caller = connect(port, '127.0.0.1');
  const [ours] = (await once(server, 'connection')) as [Socket];
  ends = [caller, ours];
  return [caller, ours];
}

test('input beyond MAX_WAITING_INPUT_BYTES waits with the caller until what came before is taken', async () => {
  const [caller, ours] = await socketPair();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const link = { input, output, name: 'test', close: () => Promise.resolve() };
  const asked: { id: unknown; method: string; params: { data?: string } }[] = [];
  output.on('data', (line: Buffer) => asked.push(JSON.parse(line.toString('utf8')) as never));
  const start = `{"jsonrpc":"2.0","id":"${START_ID}","method":"exec.start","params":{}}\n`;
  const ended = runPlainly(ours, link, { sessionId: 's', startLine: start });
  input.write(`{"jsonrpc":"2.0","id":"${START_ID}","result":{"process_id":"p"}}\n`);
  const [running] = (await once(caller, 'data')) as [Buffer];
  expect(running.toString('utf8')).toBe('r\n');
  const piece = Buffer.alloc(64 * 1024, 'x');
  const pieces = (8 * MAX_WAITING_INPUT_BYTES) / piece.length;
  for (let i = 0; i < pieces; i++) caller.write(Buffer.concat([Buffer.from(`i${piece.length}\n`), piece]));
  await until(() => ours.isPaused(), 'the caller to wait');
  expect(asked.map(({ method }) => method)).toEqual(['exec.start', 'exec.input']);
  let taken = 0;
  const total = pieces * piece.length;
  for (let at = 1; taken < total; at++) {
    await until(() => asked.length > at, 'the next input');
    const bytes = Buffer.from(asked[at]?.params.data ?? '', 'base64').length;
    expect(bytes).toBeLessThanOrEqual(2 * MAX_WAITING_INPUT_BYTES);
    taken += bytes;
    input.write(`{"jsonrpc":"2.0","id":${String(asked[at]?.id)},"result":{}}\n`);
  }
  input.write('{"jsonrpc":"2.0","method":"exec.exit","params":{"process_id":"p","exit_code":3}}\n');
  const [last] = (await once(caller, 'data')) as [Buffer];
  expect(last.toString('utf8')).toBe('x3\n');
  expect(await ended).toBe('clean');
});
