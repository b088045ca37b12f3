// REXD v1: ends come in order, and for all whom they concern.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { dataOf, ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';

/** More than any pipe holds, so that the program has to read before all of it is handed over. */
const MORE_THAN_A_PIPE = 300_000;

for (const detach of [false, true])
  verifies('rexd/exec.input/eof-in-order', async () => {
    await using client = await ExecClient.open();
    const command = 'until [ -e go ]; do sleep 0.02; done; wc -c';
    const process_id = await client.start({ shell: true, command, stdin_open: true, detach });
    const last = client.call('exec.input', { process_id, data: 'a'.repeat(MORE_THAN_A_PIPE), eof: true });
    const behind = client.call('exec.input', { process_id, data: 'too late' });
    await client.ask('exec.wait', { process_id, timeout_ms: 100 }); // both have been read by now: requests are taken in order
    writeFileSync(join(client.root, 'go'), '');
    expect((await last).result).toEqual({ accepted_bytes: MORE_THAN_A_PIPE });
    expect((await behind).error).toMatchObject({ code: -32602 });
    expect((await client.finish(process_id)).stdout.toString().trim()).toBe(String(MORE_THAN_A_PIPE));
  });

for (const detach of [false, true])
  verifies('rexd/exec.input/eof-in-order', async () => {
    await using client = await ExecClient.open({ limits: { default_timeout_ms: 300 } });
    const command = 'until [ -e go ]; do sleep 0.02; done; wc -c';
    const params = { shell: true, command, stdin_open: true, detach, timeout_ms: 60_000 };
    const process_id = await client.start(params);
    const data = 'a'.repeat(MORE_THAN_A_PIPE);
    expect(await client.refused('exec.input', { process_id, data, eof: true })).toMatchObject({
      code: -32003,
    });
    writeFileSync(join(client.root, 'go'), '');
    expect((await client.finish(process_id)).stdout.toString().trim()).toBe(String(MORE_THAN_A_PIPE));
  });

for (const default_timeout_ms of [60_000, 300])
  verifies('rexd/exec.input/eof-in-order', async () => {
    await using client = await ExecClient.open({ limits: { default_timeout_ms } });
    const command = 'stty -echo; echo ready; until [ -e go ]; do sleep 0.02; done; wc -l';
    const { process_id } = await client.ask('pty.open', { shell: true, command });
    const shown = (): string => dataOf(client.events(String(process_id)), 'pty.output').toString();
    await until(() => shown().includes('ready'), 'the terminal to be quiet');
    const lines = 20_000; // far more than a terminal holds
    const last = client.call('exec.input', { process_id, data: 'x\n'.repeat(lines), eof: true });
    const behind = client.call('exec.input', { process_id, data: 'too late\n' });
    if (default_timeout_ms === 300) expect((await last).error).toMatchObject({ code: -32003 });
    writeFileSync(join(client.root, 'go'), '');
    if (default_timeout_ms !== 300) expect((await last).result).toEqual({ accepted_bytes: 2 * lines });
    await client.event(String(process_id), 'pty.exit');
    expect(shown().split(/\s+/)).toContain(String(lines));
    await behind; // whatever became of it
  });

/** Three ways to look like a detached process: by a mark of one's own, below such a one, and below a command without any. */
const FORGERS = `
  mark=d_00000000000000000000000000
  HAWSER_MARK=$mark setsid sh -c 'echo one $$.; exec sleep 1000' &
  HAWSER_MARK=$mark setsid sh -c 'sh -c "echo two \\$\\$.; exec setsid sleep 1000" & wait' &
  env -i PATH="$PATH" sh -c "HAWSER_MARK=$mark setsid sh -c 'echo three \\$\\$.; exec sleep 1000' & wait" &
  wait`;

for (const allowed of [true, false])
  for (const end of ['session.close', 'exec.kill', 'SIGKILL'] as const)
    verifies('rexd/lifetime/no-escape', async () => {
      await using client = await ExecClient.open({ config: { security: [`allow_detach = ${allowed}`] } });
      const process_id = await client.start({ shell: true, command: FORGERS, stdin: '' });
      const pids = await until(async () => {
        const said = [...(await client.output(process_id, '')).matchAll(/(?:one|two|three) (\d+)\./g)];
        return said.length === 3 && said.map(([, pid]) => Number(pid));
      }, 'all three');
      expect(pids.filter(isAlive)).toHaveLength(3);
      if (end === 'SIGKILL') client.rexd.child.kill(end);
      else await client.ask(end, { process_id });
      await until(() => !pids.some(isAlive), 'all to be gone');
    });

verifies('rexd/lifetime/not-ours', async () => {
  await using client = await ExecClient.open({ env: { TMPDIR: '{base}/outside' } });
  const names = ['rexd-4194305', 'rexd-1', 'hawser-notes', 'hawser-4194305.1-x', 'spool_0'];
  const files = names.map((name) => join(client.rexd.grounds.outside, name, 'precious'));
  for (const file of files) {
    mkdirSync(join(file, '..'));
    writeFileSync(file, 'x');
  }
  await client.sh('sleep 1.5'); // whatever is tidied up, it is not put off for longer
  client.rexd.endInput();
  await client.rexd.ended;
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});
