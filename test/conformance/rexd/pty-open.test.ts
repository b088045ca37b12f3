// REXD v1: opening terminals.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { showCommand, Terminal } from '../kit/pty-client.js';
import { startRexd } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';

verifies('rexd/pty/capability', async () => {
  await using rexd = startRexd();
  expect((await rexd.ask('session.open', { client_name: 't' }))['capabilities']).toContain('pty');
});

verifies('rexd/pty.open/result', async () => {
  await using client = await ExecClient.open();
  const id = client.send('pty.open', { argv: ['echo', 'hello'] });
  await until(() => client.log.some((message) => 'method' in message), 'the first event');
  const [opened, , ...later] = client.log.slice(client.log.findIndex((m) => 'id' in m && m.id === id));
  expect(opened).toMatchObject({
    result: { pty_id: expect.stringMatching(/./), process_id: expect.stringMatching(/./) },
  });
  expect(later.every((message) => 'method' in message)).toBe(true);
});

verifies('rexd/pty.open/program', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, { argv: ['printf', '%s|', 'a b', '$HOME', '*'] });
  await terminal.exit();
  expect(terminal.shown.toString()).toBe('a b|$HOME|*|');
  expect((await showCommand(client, 'echo $((40 + 2))')).text).toBe('42\r\n');
  for (const wrong of [{}, { argv: [] }, { argv: [''] }, { command: 'ls' }, { shell: true }, { argv: 'ls' }])
    expect((await client.refused('pty.open', wrong))?.code, JSON.stringify(wrong)).toBe(-32602);
});

verifies('rexd/pty.open/program', async () => {
  await using client = await ExecClient.open();
  writeFileSync(join(client.root, '.profile'), 'FROM_PROFILE=yes\n');
  const env = { HOME: client.root, ENV: '' };
  expect((await showCommand(client, 'echo "[$FROM_PROFILE]"', { login: true, env })).text).toContain('[yes]');
  expect((await showCommand(client, 'echo "[$FROM_PROFILE]"', { env })).text).toContain('[]');
});

verifies('rexd/pty.open/terminal', async () => {
  await using client = await ExecClient.open();
  const probe = 'test -t 0 && test -t 1 && test -t 2 && : >/dev/tty && stty size && echo "$TERM"';
  expect(await showCommand(client, probe)).toMatchObject({
    text: expect.stringMatching(/^32 120\r\nxterm\S*\r\n$/),
    exit: { exit_code: 0 },
  });
  const asked = await showCommand(client, probe, { cols: 77, rows: 11, env: { TERM: 'vt100' } });
  expect(asked.text).toBe('11 77\r\nvt100\r\n');
  for (const size of [
    { cols: 0 },
    { rows: 0 },
    { cols: 65_536 },
    { rows: -1 },
    { cols: 1.5 },
    { cols: '80' },
  ])
    expect((await client.refused('pty.open', { argv: ['true'], ...size }))?.code).toBe(-32602);
});

verifies('rexd/pty.open/term', async () => {
  const own = process.env['TERM'];
  try {
    for (const term of [undefined, 'dumb', 'linux']) {
      if (term === undefined)
        delete process.env['TERM']; // as under `ssh -T`
      else process.env['TERM'] = term;
      await using client = await ExecClient.open();
      expect((await showCommand(client, 'echo "$TERM"')).text, term).toBe('xterm-256color\r\n');
      const asked = await showCommand(client, 'echo "$TERM"', { env: { TERM: 'vt220' } });
      expect(asked.text, term).toBe('vt220\r\n');
    }
  } finally {
    if (own === undefined) delete process.env['TERM'];
    else process.env['TERM'] = own;
  }
});

verifies('rexd/pty.open/cwd', async () => {
  await using client = await ExecClient.open();
  mkdirSync(join(client.root, 'deep'), { recursive: true });
  expect((await showCommand(client, 'pwd; /bin/pwd')).text).toBe(`${client.root}\r\n${client.root}\r\n`);
  expect((await showCommand(client, '/bin/pwd', { cwd: 'deep' })).text).toBe(`${client.root}/deep\r\n`);
  const refused = await client.refused('pty.open', { argv: ['pwd'], cwd: '/etc' });
  expect(refused).toMatchObject({ code: -32002, data: { path: '/etc', allowed_roots: expect.any(Array) } });
});

verifies('rexd/pty.open/env', async () => {
  await using client = await ExecClient.open();
  const { text } = await showCommand(client, 'echo "$GREETING ${PATH:+path} ${HOME:+home}"', {
    env: { GREETING: 'hi' },
  });
  expect(text).toBe('hi path home\r\n');
  for (const env of [{ 'A=B': 'x' }, { A: 'x\0y' }, { '': 'x' }])
    expect((await client.refused('pty.open', { argv: ['true'], env }))?.code).toBe(-32602);
});

verifies('rexd/pty.open/timeout', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, { argv: ['sh', '-i'], timeout_ms: 300 });
  expect(await terminal.exit()).toMatchObject({ timed_out: true, exit_code: expect.any(Number) });
  expect((await terminal.exit())['exit_code']).not.toBe(0);
  expect(await client.ask('exec.wait', { process_id: terminal.processId })).toMatchObject({
    status: 'timed_out',
    timed_out: true,
  });
});

verifies('rexd/pty.open/timeout', async () => {
  await using client = await ExecClient.open({ limits: { hard_timeout_ms: 500 } });
  for (const asked of [{}, { timeout_ms: 60_000 }]) {
    const terminal = await Terminal.open(client, { argv: ['sleep', '1000'], ...asked });
    expect(await terminal.exit()).toMatchObject({ timed_out: true });
  }
});

verifies('rexd/pty.open/limit', async () => {
  await using client = await ExecClient.open({ limits: { max_processes_per_session: 2 } });
  const terminal = await Terminal.open(client, { argv: ['cat'] });
  await client.start({ argv: ['sleep', '60'] });
  for (const [method, params] of [
    ['pty.open', { argv: ['cat'] }],
    ['exec.start', { argv: ['true'] }],
  ] as const)
    expect(await client.refused(method, params)).toMatchObject({
      code: -32008,
      data: { limit: 'max_processes_per_session' },
    });
  expect(await client.ask('session.info')).toMatchObject({ running_processes: 2 });
  await terminal.close();
  expect((await showCommand(client, 'echo again')).text).toBe('again\r\n');
});

verifies('rexd/pty.open/fails', async () => {
  await using client = await ExecClient.open();
  expect(await client.refused('pty.open', { argv: ['/no/such/program'] })).toMatchObject({
    code: -32602,
    data: { cwd: client.root },
  });
  expect((await client.refused('pty.open', { argv: ['no-such-program-anywhere'] }))?.code).toBe(-32602);
  expect(await client.ask('session.info')).toMatchObject({ running_processes: 0 });
  expect(await client.ask('exec.list')).toEqual({ processes: [] });
});
