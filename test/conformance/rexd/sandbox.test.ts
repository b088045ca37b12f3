// What ours adds to REXD v1: commands in a sandbox of bubblewrap, where there is one.

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bin, run } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { inTime } from '../kit/in-time.js';
import { Terminal } from '../kit/pty-client.js';
import { whyNoSandbox } from '../kit/sandbox-here.js';
import { makeGrounds, skipForeign } from '../kit/target.js';
import { verifies as cites, type ClauseId } from '../kit/verifies.js';

const missing = whyNoSandbox();
if (missing !== undefined) process.stderr.write(`SKIPPED: tests of the sandbox, because ${missing}\n`);
const verifies = (
  id: ClauseId,
  body: () => Promise<void>,
  needs: 'bwrap' | 'nothing' | 'ours' = 'bwrap',
): void =>
  cites(id, async (_transport, skip) => {
    if (missing !== undefined && needs === 'bwrap') skip(missing);
    if (needs === 'ours') skipForeign(skip);
    await body();
  });

const open = (...lines: string[]): Promise<ExecClient> =>
  ExecClient.open({ config: { tables: ['[security.sandbox]', 'mode = "required"', ...lines] } });

const SIGNALS = [
  [9, 'SIGKILL'],
  [11, 'SIGSEGV'],
  [15, 'SIGTERM'],
  [36, 'SIGRTMIN+2'],
] as const;

verifies('rexd/sandbox/reported', async () => {
  await using client = await open();
  const opened = await client.ask('session.open', { requested_capabilities: ['sandbox'] });
  expect(opened['capabilities']).toContain('sandbox');
  expect(await client.ask('session.info')).toMatchObject({ sandbox: { active: true, network: true } });
});

verifies(
  'rexd/sandbox/reported',
  async () => {
    await using client = await ExecClient.open();
    expect((await client.ask('session.open'))['capabilities']).not.toContain('sandbox');
    expect(await client.ask('session.info')).toMatchObject({ sandbox: { active: false } });
    expect(await client.refused('session.open', { requested_capabilities: ['sandbox'] })).toMatchObject({
      code: -32007,
      data: { capability: 'sandbox' },
    });
  },
  'nothing',
);

verifies('rexd/sandbox/files', async () => {
  await using client = await open('read_only = ["{base}/app/sub"]', 'read_write = ["{base}/outside"]');
  const { root, otherRoot, outside, base } = client.rexd.grounds;
  symlinkSync(base, join(root, 'way-out'));
  const write = async (path: string): Promise<number> =>
    Number((await client.sh(`echo x > '${path}'`)).exit['exit_code']);
  for (const path of [
    'in-cwd',
    join(root, 'a'),
    join(otherRoot, 'a'),
    join(outside, 'a'),
    '/tmp/a',
    '/run/a',
  ])
    expect(await write(path), path).toBe(0);
  for (const path of ['/etc/hawser', '/usr/hawser', join(root, 'sub/a'), '/proc/sys/vm/stat_refresh'])
    expect(await write(path), path).not.toBe(0);
  expect(existsSync(join(root, 'in-cwd'))).toBe(true);
  expect(existsSync('/tmp/a')).toBe(false);
  // Beside the roots there is nothing but the folder that leads to them.
  await write(join(root, 'way-out/x'));
  expect(existsSync(join(base, 'x'))).toBe(false);
  expect((await client.sh('ls -A /run')).stdout.toString()).toBe('');
});

verifies('rexd/sandbox/files', async () => {
  // What is read-only above a root leaves the root what it is.
  await using client = await open('read_only = ["{base}"]');
  const { root, base } = client.rexd.grounds;
  expect((await client.sh(`echo x > '${root}/a'`)).exit['exit_code']).toBe(0);
  expect((await client.sh(`echo x > '${base}/a'`)).exit['exit_code']).not.toBe(0);
});

verifies('rexd/sandbox/files', async () => {
  await using client = await open();
  const { root, otherRoot } = client.rexd.grounds;
  const narrow = await client.ask('session.open', { workspace_roots: [root] });
  const run = await client.sh(`echo x > '${otherRoot}/a'`, { session_id: narrow['session_id'] });
  expect(run.exit['exit_code']).not.toBe(0);
  expect(existsSync(join(otherRoot, 'a'))).toBe(false);
});

verifies('rexd/sandbox/transparent', async () => {
  await using client = await open();
  const { root } = client.rexd.grounds;
  expect((await client.run({ argv: ['pwd'], cwd: 'sub' })).stdout.toString()).toBe(`${join(root, 'sub')}\n`);
  expect((await client.run({ argv: ['cat'], stdin: 'in' })).stdout.toString()).toBe('in');
  expect((await client.sh('echo "$A $LD_HINT"', { env: { A: '1', LD_HINT: '2' } })).stdout.toString()).toBe(
    '1 2\n',
  );
  expect((await client.sh('echo out >/dev/stdout; echo err >/dev/stderr')).stderr.toString()).toBe('err\n');
  for (const code of [0, 1, 7, 127])
    expect((await client.sh(`exit ${code}`)).exit).toMatchObject({ exit_code: code, signal: null });
  for (const [number, signal] of SIGNALS)
    expect((await client.sh(`kill -${number} $$`)).exit).toMatchObject({ exit_code: 128 + number, signal });
  expect(await client.refused('exec.start', { argv: ['no-such-program'] })).toMatchObject({
    code: -32602,
    data: { reason: 'program_not_found' },
  });
  const big = await client.sh('head -c 300000 /dev/zero | tr "\\0" x');
  expect(big.stdout.length).toBe(300_000);
});

verifies('rexd/sandbox/transparent', async () => {
  await using client = await open();
  const id = await client.start({ argv: ['cat'] });
  await client.ask('exec.input', { process_id: id, data: 'typed', eof: true });
  expect((await client.finish(id)).stdout.toString()).toBe('typed');
});

verifies('rexd/sandbox/transparent', async () => {
  await using client = await open();
  const terminal = await Terminal.open(client, {
    shell: true,
    command: 'trap "echo caught" INT; stty size; cat',
    cols: 90,
    rows: 20,
  });
  await terminal.shows('20 90');
  await terminal.type('hello\r');
  await terminal.shows('hello\r\nhello');
  await terminal.type('\u0003');
  await terminal.shows('caught');
  expect(await terminal.exit()).toMatchObject({ exit_code: expect.any(Number) });
});

verifies('rexd/sandbox/ends', async () => {
  await using client = await open();
  const polite = 'trap "echo bye; exit 5" TERM; echo ready; while :; do sleep 0.05; done';
  const id = await client.start({ shell: true, command: polite });
  await client.output(id, 'ready');
  await client.ask('exec.kill', { process_id: id });
  const ended = await client.finish(id);
  expect(ended.stdout.toString()).toContain('bye');
  expect(ended.exit).toMatchObject({ exit_code: 5 });
  const late = await inTime(700, async (timeout_ms) => {
    const run = await client.sh(polite, { timeout_ms });
    return run.stdout.includes('ready') ? run : undefined;
  });
  expect(late.exit).toMatchObject({ timed_out: true, exit_code: 5 });
});

verifies('rexd/sandbox/ends', async () => {
  await using client = await open();
  const stubborn = `trap "" TERM; (trap "" TERM; exec setsid sleep 301.${process.pid}) & echo ready; sleep 302.${process.pid}`;
  const id = await client.start({ shell: true, command: stubborn });
  await client.output(id, 'ready');
  await until(() => countOf(`30[12].${process.pid}`) === 2, 'both to run');
  await client.ask('exec.kill', { process_id: id, signal: 'KILL' });
  expect((await client.finish(id)).exit).toMatchObject({ exit_code: 137, signal: 'SIGKILL' });
  await until(() => countOf(`30[12].${process.pid}`) === 0, 'both to be gone');

  const again = await client.start({ shell: true, command: stubborn });
  await client.output(again, 'ready');
  client.rexd.child.kill('SIGKILL');
  await until(() => countOf(`30[12].${process.pid}`) === 0, 'both to be gone with the server');
});

verifies('rexd/sandbox/files', async () => {
  await using client = await open();
  const id = await client.start({
    shell: true,
    command: 'echo x > /etc/hawser || echo kept; echo y > mine',
    stdin: '',
    detach: true,
  });
  expect(await client.ask('exec.wait', { process_id: id })).toMatchObject({ status: 'exited', exit_code: 0 });
  expect(await client.ask('exec.read', { process_id: id, stream: 'stdout' })).toMatchObject({
    data: 'kept\n',
  });
  expect(existsSync(join(client.root, 'mine'))).toBe(true);
});

verifies('rexd/sandbox/files', async () => {
  // By the configuration or by the environment: what lets clients in is nothing for the commands they run.
  await using client = await ExecClient.open({
    config: {
      server: ['tls_key = "{base}/app/key"'],
      tables: ['[security.sandbox]', 'mode = "required"'],
    },
    env: { REXD_TOKEN_FILE: '{base}/app/token' },
  });
  for (const name of ['key', 'token']) {
    const file = join(client.root, name);
    writeFileSync(file, 'secret', { mode: 0o600 });
    const run = await client.sh(`cat '${file}' || mv '${file}' away || rm '${file}'`);
    expect(run.exit['exit_code'], name).not.toBe(0);
    expect(run.stdout.toString()).toBe('');
    expect(await client.refused('fs.read', { path: file })).toMatchObject({ code: -32002 });
    expect(readFileSync(file, 'utf8')).toBe('secret');
  }
});

verifies('rexd/sandbox/isolated', async () => {
  await using client = await open();
  const other = await client.start({ argv: ['sleep', '300'] });
  const seen = (await client.sh('cat /proc/[0-9]*/cmdline | tr "\\0" " "')).stdout.toString();
  expect(seen).not.toContain('sleep 300');
  const status = (
    await client.sh('grep -E "^(NoNewPrivs|CapEff|CapPrm):" /proc/self/status')
  ).stdout.toString();
  expect(status).toMatch(/NoNewPrivs:\s+1/);
  expect(status).toMatch(/CapEff:\s+0+\n/);
  expect(status).toMatch(/CapPrm:\s+0+\n/);
  await client.ask('exec.kill', { process_id: other });
});

verifies('rexd/sandbox/isolated', async () => {
  // What makes the sandbox must not be chosen by whoever is to be in it.
  await using client = await open();
  const { root } = client.rexd.grounds;
  for (const tool of ['bwrap', 'env']) {
    writeFileSync(join(root, tool), '#!/bin/sh\necho taken over\n');
    chmodSync(join(root, tool), 0o755);
  }
  const run = await client.run({
    argv: ['/bin/sh', '-c', 'echo x > /etc/hawser || echo kept'],
    env: { PATH: `${root}:/usr/bin:/bin` },
  });
  expect(run.stdout.toString()).toBe('kept\n');
});

verifies('rexd/sandbox/network', async () => {
  const devices = 'sed -n "s/^ *\\([^:]*\\):.*/\\1/p" /proc/net/dev | sort | tr "\\n" " "';
  const own = execFileSync('/bin/sh', ['-c', devices]).toString();
  await using without = await open('network = false');
  expect((await without.sh(devices)).stdout.toString()).toBe('lo ');
  expect(await without.ask('session.info')).toMatchObject({ sandbox: { active: true, network: false } });
  await using withIt = await open('network = true');
  expect((await withIt.sh(devices)).stdout.toString()).toBe(own);
});

verifies(
  'rexd/sandbox/required',
  async () => {
    for (const mode of ['required', 'auto'] as const) {
      using grounds = makeGrounds(
        {},
        { tables: ['[security.sandbox]', `mode = "${mode}"`, 'read_write = ["{base}/missing"]'] },
      );
      const command = [process.execPath, bin('rexd'), '--config', grounds.config] as const;
      const request = '{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"t"}}\n';
      const served = await run([...command, '--stdio'], { input: request });
      const checked = await run([...command, '--check']);
      const why = `${join(grounds.base, 'missing')} does not exist`;
      if (mode === 'required') {
        for (const refused of [served, checked])
          expect(refused).toMatchObject({
            code: 2,
            stdout: '',
            stderr: expect.stringContaining(`there is no sandbox: ${why}`),
          });
      } else {
        expect(served.stdout).toContain('"capabilities":["exec","fs","events"');
        expect(served.stdout).not.toContain('"sandbox"');
        expect(served.stderr).toContain(why);
        expect(checked.stdout).toContain(`sandbox: auto, but not in force: ${why}`);
      }
    }
  },
  'ours',
);

/** How many processes there are of `sleep` with such an argument. */
function countOf(pattern: string): number {
  const found = execFileSync('/bin/sh', [
    '-c',
    `grep -lzE '^${pattern}$' /proc/[0-9]*/cmdline 2>/dev/null || true`,
  ]);
  return found
    .toString()
    .split('\n')
    .filter((file) => file !== '' && isSleep(file)).length;
}

function isSleep(file: string): boolean {
  try {
    return readFileSync(file, 'latin1').startsWith('sleep\0');
  } catch {
    return false;
  }
}
