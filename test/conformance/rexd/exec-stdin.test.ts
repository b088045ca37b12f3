// REXD v1: the standard input of a command as programs use it, by descriptor and by name.

import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';

const MIB = 1024 * 1024;
/** Both ways to open it; the shell's own is another program than cat. */
const READERS = ['cat /dev/stdin', 'cat < /dev/stdin', 'cat /proc/self/fd/0'];

verifies('rexd/exec.input/dev-stdin', async () => {
  await using client = await ExecClient.open();
  for (const command of READERS) {
    expect((await client.sh(command, { stdin: 'given' })).stdout.toString(), command).toBe('given');
    expect((await client.sh(command, { stdin: '' })).stdout.toString(), command).toBe('');
    const open = await client.start({ shell: true, command });
    await client.ask('exec.input', { process_id: open, data: 'one,' });
    await client.output(open, 'one,'); // read while it is open
    await client.ask('exec.input', { process_id: open, data: 'two', eof: true });
    const { stdout, exit } = await client.finish(open);
    expect([stdout.toString(), exit['exit_code']], command).toEqual(['one,two', 0]);
  }
});

verifies('rexd/exec.input/dev-stdin', async () => {
  await using client = await ExecClient.open();
  for (const command of READERS) {
    const late = await client.start({
      shell: true,
      command: `until [ -e go ]; do sleep 0.01; done; ${command}; ${command}; echo end`,
    });
    await client.ask('exec.input', { process_id: late, data: 'early', eof: true });
    await client.ask('exec.wait', { process_id: late, timeout_ms: 150 }); // its input has been at its end for long
    await client.sh('touch go');
    expect((await client.finish(late)).stdout.toString(), command).toBe('earlyend\n');
    await client.sh('rm go');
    const nothing = await client.start({ shell: true, command: `sleep 0.1; ${command}; echo end` });
    await client.ask('exec.input', { process_id: nothing, eof: true });
    expect((await client.finish(nothing)).stdout.toString(), command).toBe('end\n');
  }
});

verifies('rexd/exec.input/dev-stdin', async () => {
  await using client = await ExecClient.open({ limits: { max_processes_per_session: 64 } });
  const runs = Array.from({ length: 60 }, async (_, i) => {
    const id = await client.start({
      shell: true,
      command: `${i % 2 === 0 ? '' : 'sleep 0.05; '}${READERS[i % 3]}`,
    });
    await client.ask('exec.input', { process_id: id, data: `number ${i}`, eof: true });
    return (await client.finish(id)).stdout.toString();
  });
  expect(await Promise.all(runs)).toEqual(Array.from({ length: 60 }, (_, i) => `number ${i}`));
});

verifies('rexd/exec.input/large', async () => {
  await using client = await ExecClient.open();
  const text = Array.from({ length: (10 * MIB) / 16 }, (_, i) => `line ${String(i).padStart(10)}`).join('\n');
  const sum = `${createHash('sha256').update(text).digest('hex')}  -\n`;
  for (const command of ['sha256sum', 'cat /dev/stdin | sha256sum', 'sha256sum < /dev/stdin']) {
    expect((await client.sh(command, { stdin: text })).stdout.toString(), command).toBe(sum);
    const id = await client.start({ shell: true, command });
    for (let at = 0; at < text.length; at += MIB) {
      const data = text.slice(at, at + MIB);
      const answer = await client.ask('exec.input', { process_id: id, data, eof: at + MIB >= text.length });
      expect(answer).toEqual({ accepted_bytes: data.length });
    }
    expect((await client.finish(id)).stdout.toString(), command).toBe(sum);
  }
  const both = await client.start({
    shell: true,
    command: 'sha256sum < /dev/stdin',
    stdin: text,
    stdin_open: true,
  });
  await client.ask('exec.input', { process_id: both, eof: true });
  expect((await client.finish(both)).stdout.toString()).toBe(sum);
});

verifies('rexd/exec.input/not-read', async () => {
  const data = 'x'.repeat(6 * MIB);
  const sleep = { argv: ['sleep', '200'], timeout_ms: 200_000 };
  // Time that does not run out while they are sent, and time that does.
  await using patient = await ExecClient.open({ limits: { default_timeout_ms: 150_000 } });
  const process_id = await patient.start(sleep);
  const taken = [1, 2].map(() => patient.call('exec.input', { process_id, data }));
  for (let n = 0; n < 2; n++)
    expect(await patient.refused('exec.input', { process_id, data })).toMatchObject({
      code: -32008,
      data: { limit: 16 * MIB },
    });
  expect(await patient.ask('exec.kill', { process_id })).toEqual({ ok: true });
  await patient.finish(process_id);
  await Promise.all(taken);
  await using client = await ExecClient.open({ limits: { default_timeout_ms: 1000 } });
  const other = await client.start(sleep);
  const late = await Promise.all([1, 2].map(() => client.call('exec.input', { process_id: other, data })));
  expect(late.map(({ error }) => error?.code)).toEqual([-32003, -32003]);
  expect(await client.ask('exec.kill', { process_id: other })).toEqual({ ok: true });
  await client.finish(other);
});
