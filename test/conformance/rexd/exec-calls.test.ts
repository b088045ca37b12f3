// REXD v1: exec.input, exec.read, and requests side by side.

import { expect } from 'vitest';
import { ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';

verifies('rexd/exec.input/data', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ argv: ['cat'] });
  expect(await client.ask('exec.input', { process_id: id, data: 'é✓\n' })).toEqual({ accepted_bytes: 6 });
  expect(await client.output(id, '✓\n')).toBe('é✓\n');
  const bytes = { data: Buffer.from([255, 0]).toString('base64'), encoding: 'base64' };
  expect(await client.ask('exec.input', { process_id: id, ...bytes })).toEqual({ accepted_bytes: 2 });
  expect(await client.ask('exec.input', { process_id: id, data: '', eof: true })).toEqual({
    accepted_bytes: 0,
  });
  const { stdout, exit } = await client.finish(id);
  expect(stdout).toEqual(Buffer.concat([Buffer.from('é✓\n'), Buffer.from([255, 0])]));
  expect(exit['exit_code']).toBe(0);
});

verifies('rexd/exec.input/closed', async () => {
  await using client = await ExecClient.open();
  const given = await client.start({ argv: ['sleep', '60'], stdin: 'all' });
  const ended = await client.start({ argv: ['cat'] });
  await client.ask('exec.input', { process_id: ended, eof: true });
  await client.finish(ended);
  for (const id of [given, ended]) {
    const error = await client.refused('exec.input', { process_id: id, data: 'x' });
    expect(error).toMatchObject({ code: -32602, data: { reason: expect.any(String) } });
  }
  expect((await client.refused('exec.input', { process_id: 'p_none', data: '' }))?.code).toBe(-32005);
  const closer = await client.start({ shell: true, command: 'exec <&-; echo closed; sleep 60' });
  await client.output(closer, 'closed');
  expect((await client.refused('exec.input', { process_id: closer, data: 'x' }))?.code).toBe(-32602);
});

verifies('rexd/exec/concurrent', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ argv: ['sleep', '60'] });
  const wait = client.call('exec.wait', { process_id: id, timeout_ms: 60_000 });
  const deaf = await client.start({ argv: ['sleep', '60'] });
  const input = client.call('exec.input', { process_id: deaf, data: 'x'.repeat(4 * 1024 * 1024) }); // into a full pipe
  let answered = 0;
  for (const long of [wait, input]) void long.then(() => (answered += 1));
  await client.ask('session.info');
  expect(answered, 'both still wait').toBe(0);
  expect(await client.ask('exec.kill', { process_id: id })).toEqual({ ok: true });
  expect((await wait).result).toMatchObject({ status: 'killed', signal: 'SIGTERM' });
  await client.ask('exec.kill', { process_id: deaf });
  expect((await input).error?.code).toBe(-32602);
});

verifies('rexd/exec/concurrent', async () => {
  await using client = await ExecClient.open({ limits: { default_timeout_ms: 300 } });
  const id = await client.start({ argv: ['sleep', '60'], timeout_ms: 20_000 });
  const error = await client.refused('exec.input', { process_id: id, data: 'x'.repeat(4 * 1024 * 1024) });
  expect(error).toMatchObject({ code: -32003 });
});

verifies('rexd/exec/isolation', async () => {
  await using client = await ExecClient.open();
  const other = await client.openSession();
  const id = await client.start({ argv: ['cat'] });
  for (const [method, params] of [
    ['exec.wait', {}],
    ['exec.kill', { signal: 'KILL' }],
    ['exec.input', { data: 'x' }],
    ['exec.read', {}],
  ] as const) {
    const error = await client.refused(method, { session_id: other, process_id: id, ...params });
    expect(error, method).toMatchObject({ code: -32005, data: { process_id: id } });
    const guessed = await client.refused(method, { session_id: 's_none', process_id: id, ...params });
    expect(guessed?.code, method).toBe(-32602);
  }
  expect(await client.ask('exec.list', { session_id: other })).toEqual({ processes: [] });
  await client.ask('exec.input', { process_id: id, data: 'mine', eof: true });
  expect((await client.finish(id)).stdout.toString()).toBe('mine');
});

verifies('rexd/session.info/processes', async () => {
  await using client = await ExecClient.open();
  const count = async (): Promise<unknown> => (await client.ask('session.info'))['running_processes'];
  expect(await count()).toBe(0);
  const id = await client.start({ argv: ['sleep', '60'] });
  expect(await count()).toBe(1);
  await client.ask('exec.kill', { process_id: id });
  await client.finish(id);
  expect(await count()).toBe(0);
});

verifies('rexd/exec.read/range', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ shell: true, command: 'printf "é123456789"; read go; seq 1 100000' });
  await client.output(id, '9');
  expect(await client.ask('exec.read', { process_id: id, offset: 2, length: 3 })).toEqual({
    offset: 2,
    size: 11,
    eof: false,
    encoding: 'utf8',
    data: '123',
  });
  await client.ask('exec.input', { process_id: id, data: '\n' });
  const { stdout } = await client.finish(id);
  const parts: string[] = [];
  for (let offset = 0, eof = false; !eof; ) {
    const part = await client.ask('exec.read', { process_id: id, offset });
    parts.push(String(part['data']));
    offset += Buffer.byteLength(String(part['data']));
    eof = part['eof'] === true;
  }
  expect(parts.join('')).toBe(stdout.toString());
  for (const [at, byte] of [
    [0, 0xc3],
    [1, 0xa9],
  ] as const) {
    // Less than a character: still a step ahead, or whoever reads on would never come to the end.
    expect(await client.ask('exec.read', { process_id: id, offset: at, length: 1 })).toMatchObject({
      encoding: 'base64',
      data: Buffer.of(byte).toString('base64'),
    });
  }
  expect(await client.ask('exec.read', { process_id: id, stream: 'stderr' })).toMatchObject({
    data: '',
    eof: true,
  });
});
