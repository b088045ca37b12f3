// REXD v1: what a process that outlives its session may take: time and output.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { gone, letGo, listed, readWhole, startTimed, startWaiting } from '../kit/detached.js';
import { ExecClient } from '../kit/exec-client.js';
import { inTime } from '../kit/in-time.js';
import { verifies } from '../kit/verifies.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';

verifies('rexd/detach/timeout', async () => {
  await using client = await ExecClient.open({ limits: { default_timeout_ms: 100 } });
  const { id, pid } = await startWaiting(client, 'exit 0');
  const late = await startTimed(client, 'exit 0', 700);
  client.rexd.child.kill('SIGKILL');
  await client.rexd.ended;
  await using second = await ExecClient.open({ beside: client });
  await gone([late.pid]);
  expect(await second.ask('exec.wait', { process_id: late.id })).toMatchObject({
    status: 'timed_out',
    timed_out: true,
    signal: 'SIGTERM',
  });
  expect(isAlive(pid)).toBe(true);
  letGo(second);
  await gone([pid]);
  await until(async () => (await listed(second, id))?.['status'] === 'exited', 'its end to be known');
});

verifies('rexd/detach/timeout', async () => {
  await using client = await ExecClient.open({ limits: { hard_timeout_ms: 500 } });
  for (const asked of [{}, { timeout_ms: 60_000 }]) {
    const id = await client.start({ argv: ['sleep', '1000'], detach: true, ...asked });
    const { exit } = await client.finish(id);
    expect(exit).toMatchObject({ timed_out: true, signal: 'SIGTERM', exit_code: 143 });
  }
});

verifies('rexd/detach/timeout', async () => {
  await using client = await ExecClient.open();
  const command = `echo $$; trap '' TERM; (trap '' TERM; echo $$; while :; do sleep 1000; done) & echo $!; while :; do sleep 1000; done`;
  const { exit, stdout } = await inTime(300, async (timeout_ms) => {
    const run = await client.run({ shell: true, command, detach: true, timeout_ms });
    return run.stdout.toString().split('\n').length === 4 ? run : undefined; // both were deaf in time
  });
  expect(exit).toMatchObject({ timed_out: true, signal: 'SIGKILL', exit_code: 137 });
  await gone([...stdout.toString().matchAll(/\d+/g)].map(Number));
});

verifies('rexd/detach/max-output', async () => {
  await using client = await ExecClient.open();
  const { stdout, stderr, exit } = await client.run({
    shell: true,
    command: 'echo error >&2; while :; do echo 0123456789; done',
    max_output_bytes: 10_000,
    detach: true,
  });
  expect(stdout.length + stderr.length).toBe(10_000);
  expect(exit).toMatchObject({ output_limit_exceeded: true, timed_out: false });
  expect(exit['exit_code']).not.toBe(0);
});

verifies('rexd/detach/max-output', async () => {
  await using first = await ExecClient.open();
  // Its own files may be as large as they like; only its output is held to the cap.
  const then = 'head -c 3000000 /dev/zero >large && echo written >ok; while :; do echo 0123456789; done';
  const { id, pid } = await startWaiting(first, then, { max_output_bytes: 10_000 });
  first.rexd.child.kill('SIGKILL');
  await first.rexd.ended;
  letGo(first);
  await gone([pid]);
  expect(readFileSync(join(first.root, 'ok'), 'utf8')).toBe('written\n');
  const file = join(first.rexd.grounds.state, 'rexd', 'detached', id, 'stdout');
  expect(statSync(file).size).toBeLessThan(10_000 + 1024);
  await using second = await ExecClient.open({ beside: first });
  expect(await second.ask('exec.wait', { process_id: id })).toMatchObject({
    output_limit_exceeded: true,
    bytes_stdout: 10_000,
    signal: 'SIGKILL',
  });
  expect(await readWhole(second, id)).toHaveLength(10_000);
});
