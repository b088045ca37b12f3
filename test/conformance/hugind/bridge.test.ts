import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { FakeHub } from '../../helpers/hub.js';
import { bin, Program, run } from '../../helpers/program.js';
import { makeScratch } from '../../helpers/scratch.js';
import { until } from '../../helpers/wait.js';
import { startHugind } from '../kit/hugind-under-test.js';
import { verifies } from '../kit/verifies.js';

const METHODS = [
  'agent.list',
  'agent.run',
  'agent.install',
  'agent.remove',
  'config.list',
  'config.validate',
  'config.info',
  'config.remove',
  'config.defaults',
  'config.init',
  'model.list',
  'model.show',
  'model.add',
  'model.remove',
  'server.list',
  'server.start',
  'server.stop',
];

verifies(['hugind/launch', 'hugind/ndjson/success', 'hugind/ours/ids'], async () => {
  await using bridge = startHugind();
  bridge.write('\n  \n{"id":"req-1","method":"model.list","params":{}}\n');
  expect(await bridge.line()).toBe('{"id":"req-1","ok":true,"result":{"repos":[]},"schema_version":"1"}');
  bridge.send({ id: 0, method: 'config.list', params: null, more: 'is passed over' });
  expect(await bridge.next()).toEqual({ id: 0, ok: true, result: { configs: [] }, schema_version: '1' });
});

verifies(['hugind/ndjson/error', 'hugind/methods'], async () => {
  await using bridge = startHugind();
  for (const method of METHODS) expect(await bridge.refused(method, []), method).toBe('invalid_params');
  const unknown = await bridge.call('model.lst');
  expect(unknown.error).toEqual({
    code: 'unknown_method',
    message: 'Unknown method "model.lst"; did you mean model.list?',
  });
  const wrong = await bridge.call('config.remove', { name: 'a', confirm: 'yes' });
  expect(wrong.error?.message).toContain('confirm');
});

verifies('hugind/ours/unknown-id', async () => {
  await using bridge = startHugind();
  for (const [line, code] of [
    ['{"id":"a"', 'invalid_json'],
    ['[1,2]', 'invalid_request'],
    ['"text"', 'invalid_request'],
    ['{"method":"model.list"}', 'invalid_request'],
    ['{"id":null,"method":"model.list"}', 'invalid_request'],
    ['{"id":{"a":1},"method":"model.list"}', 'invalid_request'],
    [`${'['.repeat(5000)}${']'.repeat(5000)}`, 'invalid_request'],
  ]) {
    bridge.write(`${line}\n`);
    expect(await bridge.answer(), line).toMatchObject({ id: 'unknown', ok: false, error: { code } });
  }
  bridge.write(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
  expect(await bridge.answer()).toMatchObject({ id: 'unknown', error: { code: 'invalid_json' } });
  bridge.write('{"id":"known"}\n');
  expect(await bridge.answer()).toMatchObject({ id: 'known', error: { code: 'invalid_request' } });
  bridge.write('{"jsonrpc":"2.0","id":[],"method":"ping"}\n');
  expect(await bridge.next()).toMatchObject({ jsonrpc: '2.0', id: 'unknown', error: { code: -32_600 } });
});

verifies('hugind/ours/pipelined', async () => {
  await using bridge = startHugind();
  const sent = Array.from({ length: 1000 }, (_, i) => i);
  bridge.write(
    sent
      .map((i) =>
        i % 2 === 0
          ? `{"id":${i},"method":"config.list"}\n`
          : `{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":{"name":"model.list"}}\n`,
      )
      .join(''),
  );
  const answers: Record<string, unknown>[] = [];
  while (answers.length < sent.length) answers.push(await bridge.next());
  bridge.endInput();
  expect(await bridge.rest()).toEqual([]);
  expect(answers.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(sent);
  expect(answers.filter((answer) => 'error' in answer)).toEqual([]);
  expect(await bridge.ended).toEqual({ code: 0, signal: null });
});

verifies('hugind/ours/long-line', async () => {
  await using bridge = startHugind();
  const piece = Buffer.alloc(4 * 1024 * 1024, 'x');
  bridge.write('{"id":"long","method":"model.show","params":{"repo":"');
  for (let i = 0; i < 75; i++)
    await new Promise<void>((resolve) => bridge.child.stdin.write(piece, () => resolve()));
  const answer = await bridge.answer();
  expect(answer).toMatchObject({ id: 'long', ok: false, error: { code: 'invalid_request' } });
  const status = readFileSync(`/proc/${bridge.child.pid}/status`, 'latin1');
  expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(450 * 1024);
  bridge.write('"}}\n');
  expect(await bridge.ask('model.list')).toEqual({ repos: [] });
});

verifies('hugind/ours/eof', async () => {
  await using bridge = startHugind();
  bridge.write('{"id":1,"method":"config.info"}\n{"id":2,"method":"model.list"}'); // the last without a newline
  bridge.endInput();
  const answers = (await bridge.rest()).map((line) => JSON.parse(line) as { id: number; ok: boolean });
  expect(new Map(answers.map(({ id, ok }) => [id, ok]))).toEqual(
    new Map([
      [1, true],
      [2, true],
    ]),
  );
  expect(await bridge.ended).toEqual({ code: 0, signal: null });
});

verifies(['hugind/ours/sigterm', 'hugind/ours/concurrent', 'hugind/fault/serial'], async () => {
  await using hub = await FakeHub.start({ 'a.gguf': Buffer.alloc(1000) });
  hub.behave = (_, res, { path }) => {
    if (!path.includes('/resolve/')) return false;
    res.writeHead(200, { etag: '"x"', 'content-length': 1000 }).write(Buffer.alloc(10));
    return true; // the rest never comes
  };
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  bridge.send({ id: 'slow', method: 'model.add', params: { repo: 'u/r', files: ['a.gguf'] } });
  await until(() => hub.asked.some(({ path }) => path.includes('/resolve/')), 'the download to begin');
  bridge.send({ id: 'waits', method: 'model.remove', params: { repo: 'u/r', delete_repo: true } });
  expect(await bridge.ask('config.list')).toEqual({ configs: [] });
  expect(await bridge.ask('model.list')).toEqual({ repos: [] });
  bridge.child.kill('SIGTERM');
  expect(await bridge.ended).toEqual({ code: 0, signal: null });
  const answers = (await bridge.rest()).map((line) => JSON.parse(line) as { id: string; error?: object });
  const ends = answers.filter((answer) => 'error' in answer);
  expect(ends.map(({ id }) => id).sort()).toEqual(['slow', 'waits']);
  for (const end of ends) expect(end.error).toMatchObject({ code: 'cancelled' });
});

verifies('hugind/ours/cancel', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': Buffer.alloc(1000) });
  hub.behave = (_, res, { path }) => {
    if (!path.includes('/resolve/')) return false;
    res.writeHead(200, { etag: '"x"', 'content-length': 1000 }).write(Buffer.alloc(10));
    return true;
  };
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  const downloads = (): number => hub.asked.filter(({ path }) => path.includes('/resolve/')).length;
  expect(await bridge.ask('request.cancel', { id: 'nobody' })).toEqual({ cancelled: false });
  bridge.send({ id: 'd', method: 'model.add', params: { repo: 'u/r', files: ['a.gguf'] } });
  await until(() => downloads() === 1, 'the download to begin');
  bridge.send({ id: 'c', method: 'request.cancel', params: { id: 'd' } });
  const answers = [await bridge.answer(), await bridge.answer()];
  expect(answers.find(({ id }) => id === 'c')?.result).toEqual({ cancelled: true });
  expect(answers.find(({ id }) => id === 'd')?.error?.code).toBe('cancelled');
  const args = { repo: 'u/r', files: ['a.gguf'] };
  bridge.send({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'model.add', arguments: args },
  });
  await until(() => downloads() === 2, 'the second download to begin');
  bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
  bridge.send({ id: 'free', method: 'model.remove', params: { ...args, delete_repo: true } });
  // What was called off gives its turn up, and is not answered.
  for (;;) {
    const message = await bridge.next();
    expect(message['jsonrpc'] === '2.0' && 'id' in message).toBe(false);
    if (message['id'] === 'free') break;
  }
});

verifies('hugind/ours/usage', async () => {
  for (const args of [
    ['stdio', '--loud'],
    ['stdio', 'now'],
    ['sdio'],
    ['model', 'ad'],
    ['model', 'show'],
    [],
  ]) {
    const { code, stdout, stderr } = await run([process.execPath, bin('hugind'), ...args]);
    expect([code, stdout], args.join(' ')).toEqual([2, '']);
    expect(stderr).toContain('--help');
  }
  const help = await run([process.execPath, bin('hugind'), 'model', 'add', '--help']);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain('Examples:');
});

verifies('hugind/ours/clean-stdout', async () => {
  const folder = makeScratch();
  const noisy = join(folder, 'noisy.cjs');
  writeFileSync(
    noisy,
    `console.log('early');
    process.on('SIGUSR2', () => {
      console.log('noise');
      console.info('noise');
      process.stdout.write('noise\\n');
    });`,
  );
  await using bridge = new Program([process.execPath, '--require', noisy, bin('hugind'), 'stdio'], {
    env: { HUGIND_HOME: join(folder, 'home') },
  });
  expect(await bridge.line()).toBe('early'); // before any code of ours
  bridge.write('{"id":1,"method":"model.list"}\n');
  expect(JSON.parse((await bridge.line()) ?? '')).toMatchObject({ id: 1, ok: true });
  bridge.child.kill('SIGUSR2');
  await until(() => bridge.stderr.split('noise').length === 4, 'all of the noise to be led away');
  bridge.endInput();
  expect(await bridge.rest()).toEqual([]);
});

verifies('hugind/ours/home', async () => {
  const folder = makeScratch();
  for (const [env, root] of [
    [{ HUGIND_HOME: join(folder, 'own') }, join(folder, 'own')],
    [{ XDG_CONFIG_HOME: join(folder, 'xdg') }, join(folder, 'xdg/hugind')],
    [{}, join(folder, '.hugind')],
  ] as const) {
    const clean = {
      HUGIND_HOME: undefined,
      XDG_CONFIG_HOME: undefined,
      XDG_DATA_HOME: undefined,
      HOME: folder,
    };
    const { code } = await run([process.execPath, bin('hugind'), 'config', 'defaults', '--hf-token-stdin'], {
      env: { ...clean, ...env },
      input: 'hf_abcdefghijkl\n',
    });
    expect(code).toBe(0);
    expect(readFileSync(join(root, 'settings.yml'), 'utf8')).toContain('hf_abcdefghijkl');
  }
});

verifies(['hugind/agent.list', 'hugind/server.list'], async () => {
  await using bridge = startHugind();
  expect(await bridge.ask('agent.list')).toEqual({ agents: [] });
  expect(await bridge.ask('server.list')).toEqual({ servers: [] });
  for (const name of ['agents/b', 'agents/a', 'agents/.hidden', 'configs'])
    mkdirSync(join(bridge.home, name), { recursive: true });
  writeFileSync(join(bridge.home, 'configs/one.yml'), 'server: {port: 9001}\nmodel: {path: x.gguf}\n');
  writeFileSync(join(bridge.home, 'configs/two.yml'), 'model: {path: x.gguf}\n');
  expect(await bridge.ask('agent.list')).toEqual({
    agents: [
      { name: 'a', path: join(bridge.home, 'agents/a') },
      { name: 'b', path: join(bridge.home, 'agents/b') },
    ],
  });
  const row = { host: '127.0.0.1', status: 'down' };
  expect(await bridge.ask('server.list')).toEqual({
    servers: [
      { ...row, name: 'one', port: 9001, config_name: 'one' },
      { ...row, name: 'two', port: 8080, config_name: 'two' },
    ],
  });
});

verifies('hugind/ours/not-yet', async () => {
  await using bridge = startHugind();
  for (const [method, params] of [
    ['agent.run', { path: 'x' }],
    ['agent.install', { path: 'x', approve_permissions: true, overwrite: false }],
    ['server.start', { config: 'x' }],
    ['server.stop', { config: 'x' }],
  ] as const)
    expect((await bridge.call(method, params)).error, method).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('yet'),
    });
});

const TRAPS = [
  '',
  '.',
  '..',
  '../x',
  '/etc/passwd',
  'a\0b',
  'x'.repeat(5000),
  'a/../b',
  '..\\x',
  'a/b/c/../../..',
];

verifies('hugind/fault/names', async () => {
  await using bridge = startHugind({ HF_ENDPOINT: 'http://127.0.0.1:1' });
  writeFileSync(join(bridge.home, '..', 'kept.yml'), 'server: {port: 1}\nmodel: {path: x}\n');
  for (const name of TRAPS) {
    const shown = JSON.stringify(name.slice(0, 20));
    for (const [method, params] of [
      ['agent.remove', { name }],
      ['config.remove', { name, confirm: true }],
      ['config.init', { name, model_path: 'x' }],
      ['model.show', { repo: name }],
      ['model.add', { repo: name, files: ['a.gguf'] }],
      ['model.add', { repo: 'u/r', files: [name] }],
      ['model.remove', { repo: name, delete_repo: true }],
      ['model.remove', { repo: 'u/r', files: [name] }],
      ['server.start', { config: name }],
      ['server.stop', { config: name }],
    ] as const)
      expect(await bridge.refused(method, params), `${method} ${shown}`).toBe('invalid_params');
    for (const [method, params] of [
      ['config.validate', { path: name }],
      ['config.init', { name: 'ok', model_path: name }],
      ['agent.run', { path: name }],
      ['agent.install', { path: name, approve_permissions: true, overwrite: true }],
    ] as const)
      expect((await bridge.call(method, params)).result?.['valid'] ?? false, `${method} ${shown}`).toBe(
        false,
      );
  }
  expect(readFileSync(join(bridge.home, '..', 'kept.yml'), 'utf8')).toContain('port');
});
