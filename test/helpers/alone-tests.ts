// What must work of a server that is one file: all that elsewhere comes from other files, or is a program of its own.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Alone } from './alone.js';
import { isAlive } from './proc.js';
import { until } from './wait.js';

export function testAlone(start: () => Alone): void {
  test('runs a command, whose output and exit code arrive', async () => {
    await using server = start();
    const { session_id } = await open(server);
    const argv = ['sh', '-c', 'cat; echo oops >&2; exit 3'];
    const { process_id } = await server.call('exec.start', { session_id, argv, stdin: 'typed\n' });
    const end = await server.call('exec.wait', { session_id, process_id });
    expect(end).toMatchObject({ exit_code: 3, bytes_stdout: 6, bytes_stderr: 5 });
    await server.until('exec.exit');
    expect([server.textOf('exec.stdout'), server.textOf('exec.stderr')]).toEqual(['typed\n', 'oops\n']);
    server.program.endInput();
    expect(await server.program.ended).toEqual({ code: 0, signal: null });
    expect(server.program.stderr).toBe('');
  });

  test('has terminals, of the size that was asked for, which can be typed into and resized', async () => {
    await using server = start();
    const { session_id, capabilities } = await open(server);
    expect(capabilities).toContain('pty');
    const size = { cols: 91, rows: 21 };
    const argv = ['sh', '-c', 'stty size; read line; stty size; echo "got $line"; exit 4'];
    const { pty_id } = await server.call('pty.open', { session_id, argv, ...size });
    await server.untilText('pty.output', '21 91');
    await server.call('pty.resize', { session_id, pty_id, cols: 92, rows: 22 });
    await server.call('pty.input', { session_id, pty_id, data: 'hello\r' });
    expect(await server.until('pty.exit')).toMatchObject({ exit_code: 4 });
    expect(server.textOf('pty.output')).toMatch(/22 92\s+got hello/);
  });

  test('searches by an expression, in a thread', async () => {
    await using server = start();
    writeFileSync(join(server.root, 'a.txt'), 'well\nhello\n');
    const { session_id } = await open(server);
    const query = { path: server.root, query: 'h[ae]l+o', regex: true };
    const { matches } = await server.call('fs.search', { session_id, ...query });
    expect(matches).toMatchObject([{ line: 2, text: 'hello' }]);
  });

  test('when it is killed its guardian ends what it ran, and leaves what was detached', async () => {
    await using server = start();
    const { session_id } = await open(server);
    const argv = ['sleep', '600'];
    const { pid: tied } = await server.call('exec.start', { session_id, argv });
    const detached = await server.call('exec.start', { session_id, argv, detach: true });
    server.program.child.kill('SIGKILL');
    await until(() => !isAlive(tied as number), 'the command to be ended');
    expect(isAlive(detached['pid'] as number)).toBe(true);
    process.kill(detached['pid'] as number);
    await until(() => !isAlive(detached['pid'] as number), 'the detached one to end');
  });
}

async function open(server: Alone) {
  return await server.call('session.open', { client_name: 'alone', workspace_roots: [server.root] });
}
