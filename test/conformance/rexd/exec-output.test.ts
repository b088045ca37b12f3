// REXD v1: exec.stdout and exec.stderr, whole and in order.

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { type Event, ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';
import { descendants, peakRssBytes } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';

const MIB = 1024 * 1024;
const of = (events: readonly Event[], method: string): Event[] =>
  events.filter((event) => event.method === method);
const seqs = (events: readonly Event[], method: string): unknown[] =>
  of(events, method).map(({ params }) => params['seq']);
const countTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

verifies('rexd/exec.output/shape', async () => {
  await using client = await ExecClient.open();
  const { id, events } = await client.sh('echo out; echo err >&2');
  for (const [method, data] of [
    ['exec.stdout', 'out\n'],
    ['exec.stderr', 'err\n'],
  ] as const) {
    const [event] = of(events, method);
    expect(event).toEqual({
      jsonrpc: '2.0',
      method,
      params: { session_id: client.sessionId, process_id: id, seq: 1, data, encoding: 'utf8' },
    });
  }
});

verifies('rexd/exec.output/exact', async () => {
  await using client = await ExecClient.open();
  for (const text of ['abc', 'a\r\nb\r\n', '\n', '\t"\\\u0001\u007f\u2028é✓😀', '\uFEFFx'])
    expect((await client.run({ argv: ['printf', '%s', text] })).stdout.toString(), JSON.stringify(text)).toBe(
      text,
    );
});

verifies('rexd/exec.output/prompt', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ shell: true, command: 'printf "name? "; read name; printf "hello $name"' });
  expect(await client.output(id, 'name? ')).toBe('name? ');
  await client.ask('exec.input', { process_id: id, data: 'ann\n' });
  expect((await client.finish(id)).stdout.toString()).toBe('name? hello ann');
});

verifies('rexd/exec.output/binary', async () => {
  await using client = await ExecClient.open();
  const { stdout, events } = await client.sh("printf 'a\\377\\000b'");
  expect(stdout).toEqual(Buffer.from([0x61, 0xff, 0, 0x62]));
  expect(of(events, 'exec.stdout')[0]?.params['encoding']).toBe('base64');
});

verifies('rexd/exec.output/binary', async () => {
  await using client = await ExecClient.open();
  const half = await client.start({
    shell: true,
    command: "printf 'a\\342'; read go; printf '\\234\\223'; read go; printf '\\360\\237'",
  });
  expect(await client.output(half, 'a')).toBe('a');
  await client.ask('exec.input', { process_id: half, data: '\n' });
  expect(await client.output(half, '✓')).toBe('a✓');
  await client.ask('exec.input', { process_id: half, data: '\n' });
  const { stdout, events } = await client.finish(half);
  expect(stdout).toEqual(Buffer.from([0x61, 0xe2, 0x9c, 0x93, 0xf0, 0x9f]));
  expect(of(events, 'exec.stdout').map(({ params }) => params['encoding'])).toEqual([
    'utf8',
    'utf8',
    'base64',
  ]);
});

verifies('rexd/exec.output/binary', async () => {
  await using client = await ExecClient.open({ limits: { max_output_bytes: 8 * MIB } });
  const { stdout, events } = await client.sh(`node -e 'process.stdout.write("é✓😀".repeat(200000))'`);
  expect(stdout.equals(Buffer.from('é✓😀'.repeat(200_000)))).toBe(true);
  expect(of(events, 'exec.stdout').every(({ params }) => params['encoding'] === 'utf8')).toBe(true);
});

verifies('rexd/exec.output/long-lines', async () => {
  await using client = await ExecClient.open({ limits: { max_output_bytes: 16 * MIB } });
  const { stdout } = await client.sh('head -c 4194304 /dev/zero'); // each byte is six on the wire
  expect(stdout.equals(Buffer.alloc(4 * MIB))).toBe(true);
  await client.sh('head -c 4194304 /dev/urandom');
  expect(client.longestLine).toBeLessThan(MIB);
});

verifies('rexd/exec.output/complete', async () => {
  await using client = await ExecClient.open();
  const { stdout, events } = await client.run({ argv: ['seq', '1', '20000'] });
  expect(stdout.toString()).toBe(
    countTo(20_000)
      .map((n) => `${n}\n`)
      .join(''),
  );
  expect(events.length).toBeLessThan(4096);
});

verifies('rexd/exec.output/complete', async () => {
  await using client = await ExecClient.open();
  // One by one and a few at a time, on a session that has just been opened.
  for (let round = 0; round < 50; round++) {
    const runs = await Promise.all([0, 1, 2, 3].map((n) => client.run({ argv: ['echo', `${round}.${n}`] })));
    expect(runs.map(({ stdout }) => stdout.toString())).toEqual([0, 1, 2, 3].map((n) => `${round}.${n}\n`));
    for (const { exit } of runs)
      expect(exit).toMatchObject({ exit_code: 0, bytes_stdout: `${round}.0\n`.length });
  }
});

verifies(
  'rexd/exec.output/complete',
  async () => {
    await using client = await ExecClient.open();
    const ids: string[] = [];
    const AT_ONCE = 8; // as many as a session may have
    for (let first = 0; first < 1000; first += AT_ONCE) {
      const words = Array.from({ length: AT_ONCE }, (_, n) => `word ${first + n}`);
      const runs = await Promise.all(words.map((word) => client.run({ argv: ['echo', word] })));
      expect(runs.map(({ stdout }) => stdout.toString())).toEqual(words.map((word) => `${word}\n`));
      ids.push(...runs.map(({ id }) => id));
    }
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) {
      const events = client.events(id);
      expect(events.map(({ method }) => method)).toEqual(['exec.stdout', 'exec.exit']);
      expect(events[0]?.params['seq']).toBe(1);
      expect(events[1]?.params).toMatchObject({ exit_code: 0, signal: null, bytes_stderr: 0 });
    }
  },
  300_000,
);

verifies('rexd/events/seq', async () => {
  await using client = await ExecClient.open();
  const { events } = await client.sh(
    'for i in $(seq 1 300); do echo $i; echo $i >&2; done; sleep 0.05; echo more',
  );
  for (const method of ['exec.stdout', 'exec.stderr'])
    expect(seqs(events, method)).toEqual(countTo(of(events, method).length));
});

verifies('rexd/events/after-reply', async () => {
  await using client = await ExecClient.open({ limits: { max_processes_per_session: 40 } });
  await Promise.all(Array.from({ length: 40 }, () => client.run({ argv: ['echo', 'x'] })));
  const named = new Set<unknown>();
  for (const message of client.log) {
    if ('method' in message)
      expect(named.has(message.params.process_id), 'known before its event').toBe(true);
    else named.add(message.result?.['process_id']);
  }
});

verifies('rexd/exec.output/slow-reader', async () => {
  const bytes = 64 * MIB;
  await using client = await ExecClient.open({ limits: { max_output_bytes: 2 * bytes } });
  const pid = client.rexd.child.pid ?? 0;
  const id = await client.start({
    shell: true,
    command: `yes 0123456789abcde | head -c ${bytes}; echo end >&2`,
  });
  await client.output(id, '0');
  client.rexd.child.stdout.pause();
  const written = await stalled(client, id);
  expect(written, 'the command waits').toBeLessThan(8 * MIB);
  expect(client.events(id).some(({ method }) => method === 'exec.stderr')).toBe(false);
  client.rexd.child.stdout.resume();
  const { stdout, exit } = await client.finish(id);
  expect(stdout.length).toBe(bytes);
  expect(stdout.equals(Buffer.alloc(bytes, '0123456789abcde\n'))).toBe(true);
  expect(exit).toMatchObject({
    exit_code: 0,
    bytes_stdout: bytes,
    bytes_stderr: 4,
    output_limit_exceeded: false,
  });
  expect(peakRssBytes(pid)).toBeLessThan(150 * MIB);
});

/** How much the writer had written when it had stopped for a while. */
async function stalled(client: ExecClient, id: string): Promise<number> {
  const pid = client.rexd.child.pid ?? 0;
  let last = -1;
  let sinceMs = Date.now();
  await until(() => {
    const now = writtenBelow(pid);
    if (now !== last) {
      last = now;
      sinceMs = Date.now();
    }
    return Date.now() - sinceMs > 700;
  }, `${id} to stop`);
  return last;
}

/** Bytes written by the command's \`head\`, as the kernel counts them. */
function writtenBelow(rexd: number): number {
  const head = descendants(rexd).find(({ command }) => command.startsWith('head '));
  const found = /^wchar: (\d+)$/m.exec(readFileSync(`/proc/${head?.pid}/io`, 'latin1'));
  return Number(found?.[1]);
}
