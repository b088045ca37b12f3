// REXD v1: what exec.start runs, where, with which variables and which input.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';

verifies('rexd/exec.start/result', async () => {
  await using client = await ExecClient.open();
  const before = Date.now();
  const started = await client.ask('exec.start', { argv: ['true'] });
  const after = Date.now();
  expect(started['process_id']).toEqual(expect.stringMatching(/./));
  const at = Date.parse(String(started['started_at']));
  // To the second is exact enough for a server of another make.
  expect([at > before - 1000, at <= after], `${before} ${at} ${after}`).toEqual([true, true]);
  const other = await client.start({ argv: ['true'] });
  expect(other).not.toBe(started['process_id']);
});

verifies('rexd/example/start-command', async () => {
  await using client = await ExecClient.open();
  const params = { session_id: client.sessionId, argv: ['echo', 'M README.md'], cwd: client.root };
  const { stdout, exit } = await client.finish(await client.start(params));
  expect(stdout.toString()).toBe('M README.md\n');
  expect(exit).toMatchObject({
    exit_code: 0,
    signal: null,
    timed_out: false,
    bytes_stdout: 12,
    bytes_stderr: 0,
  });
});

verifies('rexd/exec.start/argv', async () => {
  await using client = await ExecClient.open();
  const words = ['$HOME', '`id`', "a'b", 'two words', '', '*', 'é✓', '\n'];
  const { stdout } = await client.run({ argv: ['printf', '%s\\0', ...words] });
  expect(stdout.toString().split('\0').slice(0, -1)).toEqual(words);
});

verifies('rexd/exec.start/argv', async () => {
  await using client = await ExecClient.open();
  for (const params of [
    {},
    { argv: [] },
    { argv: [''] },
    { argv: ['a\0b'] },
    { argv: 'ls' },
    { argv: [1] },
    { command: 'ls' },
    { shell: true },
    { argv: ['true'], timeout_ms: -1 },
    { argv: ['true'], max_output_bytes: 1.5 },
    { argv: ['true'], env: { A: 1 } },
    { argv: ['true'], stdin: 5 },
  ]) {
    expect((await client.refused('exec.start', params))?.code, JSON.stringify(params)).toBe(-32602);
  }
});

verifies('rexd/exec.start/shell', async () => {
  await using client = await ExecClient.open();
  expect((await client.sh('echo one; echo $((1+1)) >&2')).stdout.toString()).toBe('one\n');
  expect((await client.sh('exit 3')).exit['exit_code']).toBe(3);
  const profile = join(client.root, '.profile');
  writeFileSync(profile, 'SEEN=profile\n');
  const env = { HOME: client.root };
  expect((await client.sh('echo "$SEEN"', { env })).stdout.toString()).toBe('\n');
  expect((await client.sh('echo "$SEEN"', { env, login: true })).stdout.toString()).toBe('profile\n');
});

verifies('rexd/exec.start/shell-disabled', async () => {
  await using client = await ExecClient.open({ allowShell: false });
  expect(await client.refused('exec.start', { shell: true, command: 'echo no' })).toMatchObject({
    code: -32007,
    data: { capability: 'shell' },
  });
  expect((await client.run({ argv: ['echo', 'yes'] })).stdout.toString()).toBe('yes\n');
});

verifies('rexd/exec.start/cwd', async () => {
  await using client = await ExecClient.open();
  const pwd = async (cwd?: string): Promise<string> =>
    (await client.run({ argv: ['pwd', '-P'], ...(cwd !== undefined && { cwd }) })).stdout
      .toString()
      .trimEnd();
  expect(await pwd()).toBe(client.root);
  expect(await pwd('sub')).toBe(join(client.root, 'sub'));
  expect(await pwd('./sub/../sub')).toBe(join(client.root, 'sub'));
  expect(await pwd(client.rexd.grounds.otherRoot)).toBe(client.rexd.grounds.otherRoot);
  symlinkSync('sub', join(client.root, 'inside'));
  expect(await pwd('inside')).toBe(join(client.root, 'sub'));
});

verifies('rexd/exec.start/cwd-outside', async () => {
  await using client = await ExecClient.open();
  const { root, outside } = client.rexd.grounds;
  symlinkSync(outside, join(root, 'link'));
  symlinkSync('/', join(root, 'top'));
  mkdirSync(`${root}evil`);
  for (const cwd of [
    outside,
    '..',
    '/',
    '/etc',
    'link',
    'top',
    'top/etc',
    `${root}evil`,
    'sub/../../outside',
  ]) {
    const error = await client.refused('exec.start', { argv: ['pwd'], cwd });
    expect(error?.code, cwd).toBe(-32002);
    expect(error?.data, cwd).toMatchObject({
      path: expect.any(String),
      allowed_roots: expect.arrayContaining([root]),
    });
  }
  expect((await client.refused('exec.start', { argv: ['pwd'], cwd: 'missing' }))?.code).toBe(-32602);
  writeFileSync(join(root, 'file'), '');
  expect((await client.refused('exec.start', { argv: ['pwd'], cwd: 'file' }))?.code).toBe(-32602);
});

verifies('rexd/exec.start/env', async () => {
  process.env['REXD_CONFORMANCE_TOKEN'] = 'secret';
  await using client = await ExecClient.open();
  delete process.env['REXD_CONFORMANCE_TOKEN'];
  const environment = async (env?: Record<string, string>): Promise<Record<string, string>> => {
    const { stdout } = await client.run({ argv: ['env', '-0'], ...(env !== undefined && { env }) });
    return Object.fromEntries(
      stdout
        .toString()
        .split('\0')
        .filter(Boolean)
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  };
  const plain = await environment();
  expect(plain['PATH']).toBeDefined();
  expect(plain).not.toHaveProperty('REXD_CONFORMANCE_TOKEN');
  expect(plain['PWD']).toBe(client.root);
  const merged = await environment({ ASKED: 'a=b\n', HOME: '/somewhere' });
  expect(merged).toMatchObject({ ASKED: 'a=b\n', HOME: '/somewhere', PATH: plain['PATH'] });
});

verifies('rexd/exec.start/env', async () => {
  await using client = await ExecClient.open();
  const tool = join(client.root, 'sub/only-here');
  writeFileSync(tool, '#!/bin/sh\necho found\n');
  chmodSync(tool, 0o755);
  const env = { PATH: join(client.root, 'sub') };
  expect((await client.run({ argv: ['only-here'], env })).stdout.toString()).toBe('found\n');
  for (const bad of [{ 'A=B': 'x' }, { '': 'x' }, { A: 'x\0y' }, { 'A\0': 'x' }])
    expect(
      (await client.refused('exec.start', { argv: ['true'], env: bad }))?.code,
      JSON.stringify(bad),
    ).toBe(-32602);
});

verifies('rexd/exec.start/stdin', async () => {
  await using client = await ExecClient.open();
  const given = `é✓\n${'x'.repeat(300_000)}`;
  expect((await client.run({ argv: ['cat'], stdin: given })).stdout.toString()).toBe(given);
  expect((await client.run({ argv: ['cat'], stdin: '' })).stdout.length).toBe(0);
  expect((await client.run({ argv: ['true'], stdin: given })).exit['exit_code']).toBe(0);
  expect((await client.sh('cat /dev/stdin', { stdin: 'again' })).stdout.toString()).toBe('again');
  const bytes = Buffer.from([0, 255, 10, 128]);
  const { stdout } = await client.run({
    argv: ['cat'],
    stdin: bytes.toString('base64'),
    stdin_encoding: 'base64',
  });
  expect(stdout).toEqual(bytes);
});

verifies('rexd/exec.start/stdin', async () => {
  await using client = await ExecClient.open();
  const absent = await client.start({ argv: ['cat'] });
  await client.ask('exec.input', { process_id: absent, data: 'later', eof: true });
  expect((await client.finish(absent)).stdout.toString()).toBe('later');
  const both = await client.start({ argv: ['cat'], stdin: 'first,', stdin_open: true });
  await client.ask('exec.input', { process_id: both, data: 'second', eof: true });
  expect((await client.finish(both)).stdout.toString()).toBe('first,second');
});

verifies('rexd/exec.start/real-pipes', async () => {
  await using client = await ExecClient.open();
  const { stdout, stderr, exit } = await client.sh(
    'echo out > /dev/stdout; echo both | tee /dev/stderr; cat /proc/self/fd/0',
  );
  expect(exit['exit_code']).toBe(0);
  expect(stdout.toString()).toBe('out\nboth\n');
  expect(stderr.toString()).toBe('both\n');
});

verifies('rexd/exec.start/max-processes', async () => {
  await using client = await ExecClient.open({ limits: { max_processes_per_session: 2 } });
  const argv = ['sleep', '60'];
  const answers = await Promise.all([1, 2, 3, 4].map(() => client.call('exec.start', { argv })));
  expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(2);
  for (const { error } of answers) {
    if (error === undefined) continue;
    expect(error).toMatchObject({ code: -32008, data: { limit: 'max_processes_per_session', value: 2 } });
  }
  const [first] = answers.flatMap(({ result }) =>
    result === undefined ? [] : [String(result['process_id'])],
  );
  await client.ask('exec.kill', { process_id: first });
  await client.finish(first ?? '');
  await client.start({ argv });
});

verifies('rexd/exec.start/detach', async () => {
  await using client = await ExecClient.open({ config: { security: ['allow_detach = false'] } });
  expect(await client.refused('exec.start', { argv: ['sleep', '60'], detach: true })).toMatchObject({
    code: -32007,
    data: { capability: 'detach' },
  });
  expect((await client.ask('session.info'))['running_processes']).toBe(0);
  expect((await client.run({ argv: ['echo', 'attached'], detach: false })).stdout.toString()).toBe(
    'attached\n',
  );
});

verifies('rexd/exec.error/launch', async () => {
  await using client = await ExecClient.open();
  const file = join(client.root, 'plain');
  writeFileSync(file, 'not a program');
  const script = join(client.root, 'script');
  writeFileSync(script, '#!/no/such/interpreter\n');
  chmodSync(script, 0o755);
  for (const [argv, reason] of [
    [['no-such-program-here'], 'program_not_found'],
    [['./nor-here'], 'program_not_found'],
    [['./plain'], 'program_not_executable'],
    [['./script'], 'interpreter_not_found'],
  ] as const) {
    const error = await client.refused('exec.start', { argv });
    const data = error?.data as { process_id: string; reason: string };
    expect(data.reason).toBe(reason);
    const event = await client.event(data.process_id, 'exec.error');
    expect(event.params).toMatchObject({
      session_id: client.sessionId,
      process_id: data.process_id,
      code: error?.code,
      message: error?.message,
      data: { reason },
    });
    expect(client.events(data.process_id)).toHaveLength(1);
    const places = [
      client.log.findIndex((message) => 'error' in message && message.error === error),
      client.log.indexOf(event),
    ];
    expect(places[0], 'the answer first').toBeLessThan(places[1] ?? 0);
  }
  expect((await client.ask('session.info'))['running_processes']).toBe(0);
});
