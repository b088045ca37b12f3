// Conversations of clients that exist, played as they play them: OC and CC are plugins, HS an editor's own provider.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bin, run } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { Terminal } from '../kit/pty-client.js';
import { startRexd } from '../kit/rexd-under-test.js';
import { makeGrounds, skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

const MIB = 1024 * 1024;
/** How they call themselves. */
const CLIENTS = [
  { client_name: 'opencode-rexd-target', client_version: '0.3.10' },
  { client_name: 'claudecode-rexd-target', client_version: '0.1.1' },
  { client_name: 'opencode', client_version: '1.0.0' },
] as const;

verifies('rexd/clients/launch', async (_transport, skip) => {
  skipForeign(skip);
  for (const flag of ['-h', '--help', '--version'])
    expect(await run([process.execPath, bin('rexd'), flag]), flag).toMatchObject({ code: 0, signal: null });
  using grounds = makeGrounds();
  const launched = `exec '${process.execPath}' '${bin('rexd')}' --stdio --config '${grounds.config}'`;
  const request = '{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"opencode"}}\n';
  const { code, stdout } = await run(['/bin/sh', '-c', launched], { input: request });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { protocol: 'rexd/1' } });
});

verifies('rexd/clients/open', async () => {
  await using rexd = startRexd();
  for (const client of CLIENTS) {
    const opened = await rexd.ask('session.open', { ...client, workspace_roots: [rexd.grounds.root] });
    expect(opened).toMatchObject({
      session_id: expect.stringMatching(/./),
      protocol: 'rexd/1',
      server_version: '0.1.5',
    });
    expect(opened['capabilities']).toEqual(expect.arrayContaining(['exec', 'fs', 'events', 'pty']));
    const limits = Object.entries(opened['limits'] as object) as [string, unknown][];
    expect(limits).toHaveLength(6);
    for (const [name, value] of limits) expect(typeof value === 'number' && value > 0, name).toBe(true);
    const roots = opened['workspace_roots'] as string[];
    expect(roots.length).toBeGreaterThan(0);
    expect(roots.every((root) => root.startsWith('/'))).toBe(true);
  }
});

verifies('rexd/clients/report-version', async (_transport, skip) => {
  skipForeign(skip);
  using grounds = makeGrounds();
  writeFileSync(
    grounds.config,
    readFileSync(grounds.config, 'utf8').replace('[server]', '[server]\nreport_version = "0.2.0"'),
  );
  const request = '{"jsonrpc":"2.0","id":1,"method":"session.open","params":{}}\n';
  const { stdout } = await run([process.execPath, bin('rexd'), '--stdio', '--config', grounds.config], {
    input: request,
  });
  expect(JSON.parse(stdout)).toMatchObject({ result: { server_version: '0.2.0' } });
});

verifies(
  'rexd/clients/line-length',
  async () => {
    await using client = await ExecClient.open();
    const many = join(client.root, 'many');
    mkdirSync(many);
    for (let i = 0; i < 12_000; i++)
      writeFileSync(join(many, `a-file-with-quite-a-long-name-so-that-the-list-is-long-${i}`), '');
    writeFileSync(join(client.root, 'media'), Buffer.alloc(MIB, 0xff));
    writeFileSync(join(client.root, 'text'), '"\n'.repeat(MIB / 2));
    for (const params of [{ path: 'many' }, { path: '.', recursive: true }])
      expect(await client.ask('fs.list', params)).toMatchObject({ truncated: true });
    expect(await client.ask('fs.glob', { pattern: '**/*' })).toMatchObject({ truncated: true });
    expect(await client.ask('fs.read', { path: 'media', encoding: 'base64' })).toMatchObject({
      truncated: true,
      size: MIB,
    });
    expect(await client.ask('fs.read', { path: 'media' })).toMatchObject({
      truncated: true,
      encoding: 'base64',
    });
    expect(await client.ask('fs.read', { path: 'text', encoding: 'utf8' })).toMatchObject({
      truncated: true,
    });
    await client.sh(`head -c ${MIB - 1} /dev/zero`);
    expect(client.longestLine).toBeLessThan(MIB);
  },
  300_000,
);

verifies('rexd/clients/exec', async () => {
  await using client = await ExecClient.open();
  const cwd = join(client.root, 'sub');
  // OC: as little as possible.
  expect(
    (await client.finish(await client.start({ command: 'pwd; echo err >&2; exit 3', shell: true, cwd })))
      .exit,
  ).toMatchObject({ exit_code: 3 });
  expect(
    (
      await client.finish(
        await client.start({ command: 'pwd', shell: true, login: true, cwd, timeout_ms: 60_000 }),
      )
    ).stdout.toString(),
  ).toContain(cwd);
  // CC: everything, and for its grep an output limit above the server's.
  const grep = await client.start({
    command: 'echo found',
    shell: true,
    login: false,
    detach: false,
    cwd,
    timeout_ms: 60_000,
    max_output_bytes: 2 * MIB,
  });
  expect((await client.finish(grep)).stdout.toString()).toBe('found\n');
  // HS: argv, and variables that are added to the usual ones.
  const argv = ['sh', '-c', 'echo "$ADDED:${PATH:+path}"'];
  const added = await client.start({
    argv,
    shell: false,
    login: false,
    cwd,
    env: { ADDED: 'yes' },
    timeout_ms: 60_000,
    max_output_bytes: 8 * MIB,
  });
  expect((await client.finish(added)).stdout.toString()).toBe('yes:path\n');
});

verifies('rexd/clients/exit', async () => {
  await using client = await ExecClient.open();
  for (const command of ['true', 'false', 'echo x', 'exit 200', 'sleep 0.05 & echo bg', 'cat </dev/null']) {
    const { events, exit } = await client.finish(
      await client.start({ command, shell: true, cwd: client.root }),
    );
    expect(
      events.filter(({ method }) => method === 'exec.exit'),
      command,
    ).toHaveLength(1);
    expect(events.at(-1)?.method, command).toBe('exec.exit');
    expect(typeof exit['exit_code'], command).toBe('number');
  }
  // CC asks after its own deadline.
  const id = await client.start({ argv: ['true'], stdin: '' });
  await client.event(id, 'exec.exit');
  expect(await client.ask('exec.wait', { process_id: id, timeout_ms: 1 })).toMatchObject({
    status: 'exited',
    exit_code: 0,
  });
});

verifies('rexd/clients/chunks', async () => {
  await using client = await ExecClient.open();
  const run = await client.sh(`yes short | head -c ${MIB}`);
  expect(run.stdout.length).toBe(MIB);
  expect(run.events.length).toBeLessThanOrEqual(4096);
});

verifies('rexd/clients/cancel', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({
    command: `trap '' TERM; sleep 400.${process.pid} & echo $!; wait`,
    shell: true,
    cwd: client.root,
  });
  const child = Number((await client.output(id, '\n')).trim());
  expect(await client.ask('exec.kill', { process_id: id, signal: 'KILL' })).toEqual({ ok: true });
  const { exit } = await client.finish(id);
  expect(typeof exit['exit_code']).toBe('number');
  expect(exit['exit_code']).not.toBe(0);
  await until(() => isGone(child), 'its child to be gone');
});

verifies('rexd/clients/read', async () => {
  await using client = await ExecClient.open();
  writeFileSync(join(client.root, 'text.md'), 'é'.repeat(5000));
  writeFileSync(join(client.root, 'image.png'), Buffer.from([0x89, 0x50, 0xff, 0x00]));
  // OC: is it there, is it text, then all of it.
  expect(await client.ask('fs.stat', { path: 'text.md' })).toMatchObject({
    exists: true,
    type: 'file',
    size: 10_000,
  });
  const sample = await client.ask('fs.read', { path: 'text.md', encoding: 'base64', length: 4096 });
  expect(Buffer.from(String(sample['content']), 'base64')).toHaveLength(4096);
  expect(await client.ask('fs.read', { path: 'text.md', encoding: 'utf8' })).toMatchObject({
    content: 'é'.repeat(5000),
    truncated: false,
  });
  expect(await client.ask('fs.read', { path: 'image.png', encoding: 'base64' })).toMatchObject({
    content: 'iVD/AA==',
    truncated: false,
  });
  // HS names no encoding and heeds that of the answer.
  expect(await client.ask('fs.read', { path: 'text.md' })).toMatchObject({ encoding: 'utf8' });
  expect(await client.ask('fs.read', { path: 'image.png' })).toMatchObject({
    encoding: 'base64',
    content: 'iVD/AA==',
  });
});

verifies('rexd/clients/files', async () => {
  await using client = await ExecClient.open();
  const { root } = client;
  writeFileSync(join(root, 'a.ts'), 'one');
  writeFileSync(join(root, 'sub/b.tsx'), 'two');
  symlinkSync('a.ts', join(root, 'link'));
  expect(await client.ask('fs.stat', { path: 'link' })).toMatchObject({
    type: 'symlink',
    symlink_target: 'a.ts',
  });
  const { entries } = await client.ask('fs.list', { path: root, recursive: true, max_entries: 100 });
  expect(entries).toContainEqual(
    expect.objectContaining({ name: 'b.tsx', path: join(root, 'sub/b.tsx'), type: 'file' }),
  );
  expect(await client.ask('fs.glob', { pattern: '**/*.{ts,tsx}', cwd: root })).toMatchObject({
    matches: [join(root, 'a.ts'), join(root, 'sub/b.tsx')],
  });
  expect(await client.refused('fs.write', { path: 'a.ts', content: '', mode: 'create' })).toMatchObject({
    code: -32602,
  });
  const { mtime } = await client.ask('fs.read', { path: 'a.ts' });
  expect(Number.isInteger(mtime)).toBe(true);
  expect(await client.ask('fs.write', { path: 'a.ts', content: 'new', expected_mtime: mtime })).toMatchObject(
    { created: false },
  );
  expect(
    await client.refused('fs.write', { path: 'a.ts', content: 'x', expected_mtime: Number(mtime) - 5 }),
  ).toMatchObject({ code: -32006 });
  expect(await client.ask('fs.edit', { path: 'a.ts', old_string: 'new', new_string: 'newer' })).toMatchObject(
    { replacements: 1 },
  );
  expect(
    await client.ask('fs.patch', { patch_text: '*** Begin Patch\n*** Delete File: a.ts\n*** End Patch' }),
  ).toMatchObject({ deleted: [expect.stringContaining('a.ts')] });
  expect(await client.ask('fs.stat', { path: 'a.ts' })).toMatchObject({ exists: false });
});

verifies('rexd/clients/pty', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, {
    argv: ['sh', '-i'],
    env: { PS1: 'prompt> ' },
    cwd: client.root,
    cols: 80,
    rows: 24,
  });
  await terminal.shows('prompt> ');
  await terminal.type('exit 4\r');
  expect(await terminal.exit()).toMatchObject({ exit_code: 4, signal: null });
  const short = await Terminal.open(client, {
    command: 'kill -9 $$',
    shell: true,
    cols: 80,
    rows: 24,
    login: false,
  });
  const { exit_code } = await short.exit();
  expect(typeof exit_code === 'number' && exit_code !== 0).toBe(true);
});

verifies('rexd/clients/disconnect', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ command: 'sleep 500 & echo $!; wait', shell: true, cwd: client.root });
  const child = Number((await client.output(id, '\n')).trim());
  client.rexd.endInput();
  expect(await client.rexd.ended).toEqual({ code: 0, signal: null });
  await until(() => isGone(child), 'the child to be gone');
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
}
