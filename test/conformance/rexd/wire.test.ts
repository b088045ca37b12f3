// REXD v1: the JSON-RPC shell, line by line and byte by byte.

import { join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type Answer, type RexdUnderTest, startRexd } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';
import { peakRssBytes } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { startFiles } from './fs-client.js';

const request = (id: unknown, method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

async function open(rexd: RexdUnderTest): Promise<string> {
  return String((await rexd.ask('session.open', { client_name: 'wire' }))['session_id']);
}

verifies('rexd/wire/malformed', async () => {
  await using rexd = startRexd();
  const session_id = await open(rexd);
  const refused: [string, number][] = [
    ['{"jsonrpc":"2.0","id":1,"method":"session.info"', -32700],
    ['not json at all', -32700],
    ['\u0000', -32700],
    ['', -32700],
    [' \t', -32700],
    ['\ufeff{}', -32700],
    ['{"a":NaN}', -32700],
    ['null', -32600],
    ['true', -32600],
    ['"text"', -32600],
    ['{}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":5}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"session.info","params":"text"}', -32600],
  ];
  for (const [line, code] of refused) {
    const answer = await rexd.exchange(line);
    expect(answer.error?.code, line).toBe(code);
    expect(answer.id, line).toBe(line.includes('"id":1') && code === -32600 ? 1 : null);
  }
  expect(await rexd.ask('session.info', { session_id })).toMatchObject({ session_id });
});

verifies('rexd/wire/jsonrpc-member', async () => {
  await using rexd = startRexd();
  for (const version of ['', '"jsonrpc":"1.0",', '"jsonrpc":2.0,', '"JSONRPC":"2.0",']) {
    const answer = await rexd.exchange(`{${version}"id":"v","method":"session.open"}`);
    expect(answer, version).toMatchObject({ id: 'v', error: { code: -32600 } });
  }
});

verifies('rexd/wire/id-verbatim', async () => {
  await using rexd = startRexd();
  const ids = ['9007199254740993', '-9007199254740993', '123456789012345678901234567890', '1.0', '1e2', '-0'];
  for (const id of [...ids, '0', '""', '"\\u0061\\ud800"', `"${'x'.repeat(10_000)}"`]) {
    for (const method of ['session.open', 'no.such']) {
      rexd.write(`{"params":{"id":5},"method":"${method}","id":${id},"jsonrpc":"2.0"}\n`);
      expect(await rexd.line()).toContain(`"id":${id},`);
    }
    rexd.write(`[{"jsonrpc":"2.0","id":${id},"method":"no.such"}]\n`);
    expect(await rexd.line(), 'in a batch').toContain(`"id":${id},`);
  }
});

verifies('rexd/wire/id-null', async () => {
  await using rexd = startRexd();
  const answer = await rexd.exchange('{"jsonrpc":"2.0","id":null,"method":"session.open"}');
  expect(answer).toMatchObject({ id: null, result: { protocol: 'rexd/1' } });
});

verifies('rexd/wire/id-of-no-kind', async () => {
  await using rexd = startRexd();
  for (const id of ['{}', '[1]', 'true', 'false'])
    expect(await rexd.exchange(`{"jsonrpc":"2.0","id":${id},"method":"session.open"}`), id).toMatchObject({
      id: null,
      error: { code: -32600 },
    });
});

verifies('rexd/wire/notifications-silent', async () => {
  await using rexd = startRexd();
  const session_id = await open(rexd);
  const note = (method: string, params: object): void =>
    rexd.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  note('fs.write', { session_id, path: 'noted', content: 'yes' });
  note('fs.write', { session_id, path: '/etc/x', content: 'no' });
  note('fs.write', { nonsense: true });
  note('no.such', {});
  const file = join(rexd.grounds.root, 'noted');
  await until(() => existsSync(file) && readFileSync(file, 'utf8') === 'yes', 'the file');
  rexd.write(`${request('after', 'session.info', { session_id })}\n`);
  expect((await rexd.answer()).id).toBe('after');
  rexd.endInput();
  expect(await rexd.rest()).toEqual([]);
});

verifies('rexd/wire/open-unanswered', async () => {
  await using rexd = startRexd({ max_concurrent_sessions: 2 });
  for (let i = 0; i < 10; i++) rexd.write('{"jsonrpc":"2.0","method":"session.open","params":{}}\n');
  await open(rexd);
  await open(rexd);
});

verifies('rexd/wire/batch', async () => {
  await using rexd = startRexd();
  const session_id = await open(rexd);
  rexd.write(
    `[${[
      request(1, 'session.info', { session_id }),
      '{"jsonrpc":"2.0","method":"session.info","params":{}}',
      '7',
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"no.such"}',
      '{"jsonrpc":"2.0","id":"late","result":1}',
      request('w', 'fs.stat', { session_id, path: '.' }),
    ].join(', ')}]\n`,
  );
  const line = (await rexd.line()) ?? '';
  const answers = JSON.parse(line) as Answer[];
  expect(line).toContain('"id":9007199254740993,');
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [1, undefined],
    [null, -32600],
    [9007199254740992, -32601], // what JavaScript makes of it
    ['w', undefined],
  ]);
  rexd.write('[{"jsonrpc":"2.0","method":"session.info"},{"jsonrpc":"2.0","method":"no.such"}]\n');
  expect((await rexd.exchange(request('after', 'session.info', { session_id }))).id).toBe('after');
});

verifies('rexd/wire/batch-bounds', async () => {
  await using rexd = startRexd();
  expect(await rexd.exchange('[]')).toMatchObject({ id: null, error: { code: -32600 } });
  const many = Array.from({ length: 1025 }, (_, i) => request(i, 'no.such'));
  expect(await rexd.exchange(`[${many.join(',')}]`)).toMatchObject({ id: null, error: { code: -32600 } });
  rexd.write(`[${many.slice(1).join(',')}]\n`);
  expect(JSON.parse((await rexd.line()) ?? '')).toHaveLength(1024);
  expect(JSON.parse(await answerTo(rexd, '[[],1]'))).toMatchObject([
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
  ]);
});

async function answerTo(rexd: RexdUnderTest, line: string): Promise<string> {
  rexd.write(`${line}\n`);
  return (await rexd.line()) ?? '';
}

verifies('rexd/wire/params-absent', async () => {
  await using rexd = startRexd();
  expect(await rexd.call('session.open')).toMatchObject({ result: { protocol: 'rexd/1' } });
  expect(await rexd.call('session.info')).toMatchObject({
    error: { code: -32602, message: expect.stringContaining('session_id') },
  });
  expect(await rexd.call('session.info', ['by', 'position'])).toMatchObject({ error: { code: -32602 } });
});

verifies('rexd/wire/last-line', async () => {
  await using rexd = startRexd();
  rexd.write(`${request(1, 'session.open')}\n${request('last', 'session.open')}`);
  rexd.endInput();
  expect(new Set((await rexd.rest()).map((line) => (JSON.parse(line) as Answer).id))).toEqual(
    new Set([1, 'last']),
  );
  expect(await rexd.ended).toEqual({ code: 0, signal: null });
});

verifies('rexd/wire/last-line', async () => {
  await using rexd = startRexd();
  rexd.write('{"jsonrpc":"2.0","id":1,'); // cut off: no request, and still answered
  rexd.endInput();
  expect((await rexd.rest()).map((line) => (JSON.parse(line) as Answer).error?.code)).toEqual([-32700]);
});

verifies('rexd/wire/crlf', async () => {
  await using rexd = startRexd();
  rexd.write(`${request(1, 'session.open')}\r\n${request(2, 'session.open')}\r\n`);
  expect(new Set([(await rexd.answer()).id, (await rexd.answer()).id])).toEqual(new Set([1, 2]));
  expect((await rexd.exchange('\r')).error?.code).toBe(-32700);
});

verifies('rexd/wire/field-names', async () => {
  await using rexd = startRexd();
  const session_id = await open(rexd);
  expect(await rexd.call('session.info', { Session_ID: session_id })).toMatchObject({
    error: { code: -32602 },
  });
  expect(await rexd.call('Session.Info', { session_id })).toMatchObject({ error: { code: -32601 } });
  const twice = `{"jsonrpc":"2.0","id":1,"method":"no.such","params":{"session_id":"s_none","session_id":"${session_id}"},"id":2,"method":"session.info"}`;
  expect(await rexd.exchange(twice)).toMatchObject({ id: 2, result: { session_id } });
});

verifies('rexd/wire/long-line', async () => {
  await using rexd = startRexd();
  const longest = 16 * 1024 * 1024;
  expect(await rexd.exchange('x'.repeat(longest + 1))).toMatchObject({
    id: null,
    error: { code: -32600, data: { reason: expect.stringContaining(String(longest)) } },
  });
  const head = '{"jsonrpc":"2.0","id":"long","method":"no.such","params":{"x":"';
  const whole = await rexd.exchange(`${head}${'x'.repeat(longest - head.length - 3)}"}}`);
  expect(whole).toMatchObject({ id: 'long', error: { code: -32601 } });
});

verifies('rexd/wire/deep', async () => {
  await using rexd = startRexd();
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const deep = (levels: number): string =>
    `{"jsonrpc":"2.0","id":"deep","method":"no.such","params":${nested(levels)}}`;
  expect(await rexd.exchange(deep(255))).toMatchObject({ id: 'deep', error: { code: -32601 } });
  expect(await rexd.exchange(deep(256))).toMatchObject({
    id: 'deep',
    error: { code: -32600, data: { reason: expect.stringContaining('256 levels') } },
  });
  expect(await rexd.exchange(deep(1_000_000))).toMatchObject({ id: 'deep', error: { code: -32600 } });
  expect(await rexd.exchange('['.repeat(15_000_000))).toMatchObject({ id: null, error: { code: -32600 } });
});

verifies('rexd/wire/bad-text', async () => {
  await using rexd = startRexd();
  const session_id = await open(rexd);
  const file = join(rexd.grounds.root, 'odd');
  const write = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'fs.write',
    params: { session_id, path: 'odd', content: 'a|b' },
  });
  const [head = '', tail = ''] = write.split('|');
  for (const bad of [[0xc3, 0x28], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    rexd.write(Buffer.concat([Buffer.from(head), Buffer.from(bad), Buffer.from(`${tail}\n`)]));
    expect(await rexd.answer()).toMatchObject({ id: null, error: { code: -32700 } });
    expect(existsSync(file)).toBe(false);
  }
  expect(await rexd.exchange(`${head}\\ud800${tail}`)).toMatchObject({ id: 1, result: { created: true } });
  expect(readFileSync(file, 'utf8')).toBe('a\ufffdb');
});

verifies('rexd/wire/not-in-order', async () => {
  await using rexd = startRexd();
  const session_id = await open(rexd);
  const started = await rexd.ask('exec.start', { session_id, argv: ['cat'] });
  const process_id = started['process_id'];
  rexd.write(`${request('slow', 'exec.wait', { session_id, process_id })}\n`);
  rexd.write(`${request('quick', 'fs.stat', { session_id, path: '.' })}\n`);
  expect((await rexd.answer()).id).toBe('quick');
  rexd.write(`${request('eof', 'exec.input', { session_id, process_id, eof: true })}\n`);
  const ids = (await linesUntil(rexd, 'slow')).map(({ id }) => id);
  expect(ids).toContain('eof');
});

async function linesUntil(rexd: RexdUnderTest, id: string): Promise<Answer[]> {
  const seen: Answer[] = [];
  while (seen.at(-1)?.id !== id) seen.push(JSON.parse((await rexd.line()) ?? 'null') as Answer);
  return seen;
}

verifies('rexd/wire/odd-values', async () => {
  await using rexd = startRexd();
  const session_id = await open(rexd);
  const calls: [string, object][] = [
    ['exec.start', { argv: ['true'], cwd: 'a\0b' }],
    ['pty.open', { argv: ['true'], cwd: 'a\0b' }],
    ['exec.start', { argv: ['true\0'] }],
    ['fs.read', { path: 'a\0b' }],
    ['fs.glob', { pattern: 'a\0b' }],
    ['fs.glob', { pattern: '*', cwd: 'a\0b' }],
    ['fs.patch', { patch_text: '*** Begin Patch\n*** Delete File: a\0b\n*** End Patch' }],
  ];
  for (const [method, params] of calls)
    expect((await rexd.call(method, { session_id, ...params })).error?.code, JSON.stringify(params)).toBe(
      -32602,
    );
});

verifies('rexd/wire/many-long-answers', async () => {
  await using files = await startFiles();
  const path = files.put('long', 'x'.repeat(1024 * 1024));
  const ids = Array.from({ length: 400 }, (_, i) => i);
  const message = (id: number): string =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'fs.read',
      params: { session_id: files.session, path, length: 1024 * 1024 },
    });
  files.rexd.write(ids.map((id) => `${message(id)}\n`).join(''));
  const answered: unknown[] = [];
  for (const _ of ids) {
    const line = (await files.rexd.line()) ?? '';
    answered.push((JSON.parse(`${line.slice(0, line.indexOf(',"result"'))}}`) as { id: unknown }).id);
    expect(line.length).toBeGreaterThan(1024 * 1024);
  }
  expect(answered.toSorted((a, b) => Number(a) - Number(b))).toEqual(ids);
  expect(peakRssBytes(files.rexd.child.pid ?? 0)).toBeLessThan(256 * 1024 * 1024);
});
