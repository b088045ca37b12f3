// REXD v1: a server that ends, however it ends, leaves nothing behind.

import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { Terminal } from '../kit/pty-client.js';
import { verifies } from '../kit/verifies.js';

/** Deaf to every signal it can be deaf to; away in a session of its own; adopted by init; all of it at once. */
const TREE = `
  deaf() { trap '' TERM HUP INT QUIT; while :; do sleep 1000; done; }
  deaf & echo deaf $!.
  setsid sh -c 'echo away $$.; exec sleep 1000' &
  (sh -c 'trap "" TERM HUP; sleep 1000 & echo adopted $!.' &)
  (setsid sh -c 'sleep 1000 </dev/null >/dev/null 2>&1 & echo both $!.' &)
  echo top $$.
  wait; while :; do sleep 1000; done`;

interface Standing {
  readonly client: ExecClient;
  readonly terminal: Terminal;
  readonly processId: string;
  readonly pids: readonly number[];
  readonly server: number;
}

/** The same tree twice: below a command and below a terminal. */
async function plant(client: ExecClient): Promise<Standing> {
  const processId = await client.start({ shell: true, command: TREE, stdin: '' });
  const terminal = await Terminal.open(client, { shell: true, command: TREE });
  const all = (text: string): number[] => {
    const pids = [...text.matchAll(/(?:deaf|away|adopted|both|top) (\d+)\./g)].map(([, pid]) => Number(pid));
    return pids.length === 5 ? pids : [];
  };
  const pids = await until(async () => {
    const [plain, shown] = [all(await client.output(processId, '')), all(terminal.shown.toString())];
    return plain.length > 0 && shown.length > 0 && [...plain, ...shown];
  }, 'both trees to stand');
  return { client, terminal, processId, pids, server: client.rexd.child.pid ?? 0 };
}

const gone = async (pids: readonly number[], withinMs = 60_000): Promise<void> => {
  await until(() => !pids.some(isAlive), `the end of ${pids.filter(isAlive).join(', ')}`, withinMs);
};

/** Folders of the server, in the places where it may have any. */
function leftovers(server: number): string[] {
  return ['/dev/shm', tmpdir()]
    .filter((place) => existsSync(place))
    .flatMap((place) => readdirSync(place).map((name) => join(place, name)))
    .filter((path) => new RegExp(`(hawser|rexd)-${server}\\b`).test(path));
}

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const)
  verifies('rexd/lifetime/signals', async () => {
    await using client = await ExecClient.open();
    await client.sh('seq 1 100000'); // more than is kept in memory
    const { pids, server } = await plant(client);
    expect(pids.filter(isAlive)).toHaveLength(10);
    expect(leftovers(server)).not.toEqual([]);
    client.rexd.child.kill(signal);
    expect(await client.rexd.ended).toEqual({ code: signal === 'SIGINT' ? 130 : 0, signal: null });
    await gone(pids, 100);
    expect(leftovers(server)).toEqual([]);
  });

verifies('rexd/lifetime/signals', async () => {
  await using client = await ExecClient.open();
  const { pids } = await plant(client);
  client.rexd.child.kill('SIGKILL');
  await client.rexd.ended;
  await gone(pids); // by a guardian that is a shell script: on a busy machine it takes its time
});

verifies('rexd/lifetime/last-events', async () => {
  await using client = await ExecClient.open();
  const { terminal, processId, pids } = await plant(client);
  client.rexd.child.kill('SIGTERM');
  expect((await client.finish(processId)).exit).toMatchObject({ exit_code: expect.any(Number) });
  expect((await client.finish(processId)).exit['exit_code']).not.toBe(0);
  expect((await terminal.exit())['exit_code']).not.toBe(0);
  await client.rexd.ended;
  await gone(pids, 100);
});

verifies('rexd/lifetime/deaf-client', async () => {
  await using client = await ExecClient.open({ limits: { max_output_bytes: 2 ** 30 } });
  const { pids, server, processId } = await plant(client);
  const flood = await client.start({ argv: ['yes'] });
  const screen = await Terminal.open(client, { argv: ['yes'] });
  await client.output(flood, 'y');
  await screen.shows('y');
  client.rexd.child.stdout.pause();
  client.send('exec.wait', { process_id: processId, timeout_ms: 200_000 }); // its answer will find no taker
  const exited = once(client.rexd.child, 'exit');
  client.rexd.endInput();
  await gone(pids);
  expect(await exited).toEqual([0, null]);
  expect(leftovers(server)).toEqual([]);
});
