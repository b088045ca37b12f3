// REXD v1: the answer first, then the events, however the request came.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { descendants, type Running } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { Terminal } from '../kit/pty-client.js';
import type { Answer } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';

interface Call {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** Sends one batch and gives its answer, and what had come before it since the batch was sent. */
async function sendBatch(
  client: ExecClient,
  calls: readonly Call[],
): Promise<{ answers: readonly Answer[]; before: readonly object[] }> {
  const from = client.log.length;
  const members = calls.map(({ method, params }, i) => ({
    jsonrpc: '2.0',
    id: `batch-${i}`,
    method,
    params: { session_id: client.sessionId, ...params },
  }));
  client.rexd.write(`${JSON.stringify(members)}\n`);
  const at = await until(() => {
    const found = client.log.findIndex((message, i) => i >= from && Array.isArray(message));
    return found !== -1 && { found };
  }, 'the answer of the batch');
  return {
    answers: client.log[at.found] as unknown as readonly Answer[],
    before: client.log.slice(from, at.found),
  };
}

verifies('rexd/events/notification', async () => {
  await using client = await ExecClient.open();
  await client.sh('echo out; echo err >&2');
  await client.refused('exec.start', { argv: ['/no/such/program'] });
  const { processId } = await Terminal.open(client, { argv: ['echo', 'shown'] });
  await client.event(processId, 'pty.exit');
  const events = client.log.filter((message) => 'method' in message);
  expect(new Set(events.map(({ method }) => method))).toEqual(
    new Set(['exec.stdout', 'exec.stderr', 'exec.exit', 'exec.error', 'pty.output', 'pty.exit']),
  );
  for (const event of events) {
    expect(Object.keys(event).sort()).toEqual(['jsonrpc', 'method', 'params']);
    expect(event).toMatchObject({ jsonrpc: '2.0', params: { session_id: client.sessionId } });
  }
});

verifies('rexd/events/after-batch', async () => {
  await using client = await ExecClient.open();
  const other = await client.start({ argv: ['sleep', '60'] });
  const { answers, before } = await sendBatch(client, [
    { method: 'exec.start', params: { argv: ['echo', 'plain'], stdin: '' } },
    { method: 'pty.open', params: { argv: ['echo', 'shown'] } },
    { method: 'exec.start', params: { argv: ['/no/such/program'], stdin: '' } },
    { method: 'exec.wait', params: { process_id: other, timeout_ms: 400 } }, // holds the answer of the others back
  ]);
  expect(before).toEqual([]);
  const [plain, shown, failed, waited] = answers;
  expect(waited?.result).toMatchObject({ status: 'running' });
  const run = await client.finish(String(plain?.result?.['process_id']));
  expect(run.stdout.toString()).toBe('plain\n');
  expect(run.exit).toMatchObject({ exit_code: 0, timed_out: false });
  await client.event(String(shown?.result?.['process_id']), 'pty.exit');
  const lost = failed?.error?.data as { process_id: string } | undefined;
  await client.event(String(lost?.process_id), 'exec.error');
});

verifies('rexd/events/after-batch', async () => {
  await using client = await ExecClient.open({ limits: { max_processes_per_session: 16 } });
  const start = { method: 'exec.start', params: { argv: ['echo', 'x'], stdin: '' } };
  for (let round = 0; round < 5; round++) {
    const { answers, before } = await sendBatch(
      client,
      Array.from({ length: 12 }, () => start),
    );
    expect(before).toEqual([]);
    for (const { result } of answers) {
      const { stdout } = await client.finish(String(result?.['process_id']));
      expect(stdout.toString()).toBe('x\n');
    }
  }
});

verifies('rexd/events/after-batch', async () => {
  await using client = await ExecClient.open();
  const other = await client.start({ shell: true, command: 'until [ -e go ]; do sleep 0.02; done' });
  const batch = sendBatch(client, [
    { method: 'exec.start', params: { argv: ['sleep', '60'], stdin: '', timeout_ms: 100 } },
    { method: 'exec.wait', params: { process_id: other } },
  ]);
  // Its clock runs from its start: whoever holds the answer back does not give it more time.
  const started = async (): Promise<boolean> =>
    ((await client.ask('exec.list'))['processes'] as object[]).length === 2;
  await until(started, 'its start');
  const below = (): Running[] => descendants(client.rexd.child.pid ?? 0);
  await until(() => below().every(({ command }) => command !== 'sleep 60'), 'its time to be up');
  expect(client.log.some((message) => Array.isArray(message))).toBe(false);
  writeFileSync(join(client.root, 'go'), '');
  const { answers } = await batch;
  const { exit } = await client.finish(String(answers[0]?.result?.['process_id']));
  expect(exit).toMatchObject({ timed_out: true, exit_code: 143 });
});

verifies('rexd/events/after-batch', async () => {
  await using client = await ExecClient.open();
  const session_id = await client.openSession();
  const { answers, before } = await sendBatch(client, [
    { method: 'exec.start', params: { session_id, shell: true, command: 'echo hello; sleep 60' } },
    { method: 'pty.open', params: { session_id, shell: true, command: 'echo hello; sleep 60' } },
    { method: 'session.close', params: { session_id } }, // ends what the batch has not yet told of
  ]);
  expect(before).toEqual([]);
  expect(answers.at(-1)?.result).toEqual({ ok: true });
  for (const [i, last] of ['exec.exit', 'pty.exit'].entries()) {
    const id = answers[i]?.result?.['process_id'] as string | undefined;
    if (id === undefined) continue; // it had not started when the session ended
    expect((await client.event(id, last)).params['exit_code']).not.toBe(0);
  }
});

verifies('rexd/events/after-reply', async () => {
  await using client = await ExecClient.open({ limits: { max_processes_per_session: 40 } });
  for (let round = 0; round < 5; round++) {
    const session_id = await client.openSession();
    for (let n = 0; n < 8; n++) {
      client.send('exec.start', { session_id, argv: ['echo', 'x'] });
      client.send('pty.open', { session_id, argv: ['echo', 'x'] });
    }
    await client.ask('session.close', { session_id }); // on the heels of the starts
  }
  await client.hearAll();
  const named = new Set<unknown>();
  for (const message of client.log) {
    if ('method' in message) expect(named.has(message.params.process_id), message.method).toBe(true);
    else named.add(message.result?.['process_id']);
  }
});
