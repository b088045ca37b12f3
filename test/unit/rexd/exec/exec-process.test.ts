import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LimitSet } from '../../../../src/guard/limits.js';
import { newScope } from '../../../../src/host/process/mark.js';
import { INLINE_BYTES } from '../../../../src/host/process/spool.js';
import { ExecProcess, type ExecRequest } from '../../../../src/rexd/exec/exec-process.js';
import { MAX_ENDED_PROCESSES, Processes } from '../../../../src/rexd/exec/processes.js';
import { REXD_LIMITS } from '../../../../src/rexd/limits.js';
import { isAlive } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let dir: string;
let scope: string;
let made = 0;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hawser-exec-'));
  scope = newScope();
});
afterEach(() => {
  vi.useRealTimers();
  removeFolder(dir);
});

function request(command: string, more: Partial<ExecRequest> = {}): ExecRequest {
  return {
    id: `p_${++made}`,
    sessionId: 's',
    argv: ['sh', '-c', command],
    cwd: dir,
    shownCwd: dir,
    env: { PATH: process.env['PATH'] ?? '' },
    stdin: Buffer.alloc(0),
    stdinOpen: false,
    timeoutMs: 20_000,
    maxOutputBytes: 1024 * 1024,
    scope,
    spoolDir: join(dir, 'spool'),
    sink: () => undefined,
    ...more,
  };
}

test('a command that ended in time has not timed out because its output was taken late', async () => {
  let take = (): void => {};
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  const { setTimeout: wait } = globalThis;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // its time is over when we say so, not when the machine is slow
  await using process = await ExecProcess.start(request('echo x', { timeoutMs: 300, sink: () => taken }));
  process.begin();
  // From when its end is known on, it does not grow older.
  for (let ageMs = -1; process.durationMs !== ageMs; ) {
    ageMs = process.durationMs;
    await new Promise((resolve) => wait(resolve, 20));
  }
  vi.advanceTimersByTime(600);
  vi.useRealTimers();
  expect(process.running).toBe(true); // not all of it has been told yet
  take();
  expect(await process.ended).toEqual({ status: 'exited', exitCode: 0, signal: null });
  expect(process.timedOut).toBe(false);
});

test('nothing is sent before the answer', async () => {
  const lines: string[] = [];
  const sink = (line: Uint8Array): undefined => void lines.push(Buffer.from(line).toString());
  await using process = await ExecProcess.start(request('echo x', { sink }));
  await until(() => !isAlive(process.pid), 'its end');
  expect(lines).toEqual([]);
  process.begin();
  await process.ended;
  expect(lines.map((line) => (JSON.parse(line) as { method: string }).method)).toEqual([
    'exec.stdout',
    'exec.exit',
  ]);
});

test('long output is kept on disk for exec.read, and no longer than the process is known', async () => {
  const process = await ExecProcess.start(request('head -c 300000 /dev/zero'));
  process.begin();
  await process.ended;
  expect((await process.read('stdout', 299_990, 100)).length).toBe(10);
  expect(readdirSync(join(dir, 'spool'))).toHaveLength(1);
  await process.forget();
  expect(readdirSync(join(dir, 'spool'))).toEqual([]);
});

test('the state of the last 256 that ended is kept; the oldest is forgotten, what it left behind is not', async () => {
  const limits = new LimitSet(REXD_LIMITS);
  const processes = new Processes(limits);
  const run = async (command: string): Promise<ExecProcess> => {
    const process = await processes.start(() => ExecProcess.start(request(command)));
    process.begin();
    await process.ended;
    return process;
  };
  const first = await run('setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > left');
  const left = Number(readFileSync(join(dir, 'left'), 'utf8'));
  for (let n = 0; n < MAX_ENDED_PROCESSES + 1; n++) await run(':');
  expect(processes.all().filter(({ running }) => !running).length).toBeLessThanOrEqual(
    MAX_ENDED_PROCESSES + 1,
  );
  expect(() => processes.get(first.id)).toThrow('No such process');
  expect(isAlive(left)).toBe(true);
  await processes.closeAll();
  expect(isAlive(left)).toBe(false);
});

test('a process that is being started when its session ends does not stay', async () => {
  const processes = new Processes(new LimitSet(REXD_LIMITS));
  let pid = 0;
  const starting = processes.start(async () => {
    const process = await ExecProcess.start(request('sleep 1000'));
    pid = process.pid;
    return process;
  });
  const refused = starting.catch((thrown: unknown) => thrown);
  await processes.closeAll();
  expect(await refused).toMatchObject({ message: expect.stringContaining('closed') });
  expect(isAlive(pid)).toBe(false);
});

test('what the disk does not take is missing from exec.read, and from nothing else', async () => {
  const file = join(dir, 'not-a-directory');
  writeFileSync(file, '');
  let bytes = 0;
  const sink = (line: Uint8Array): undefined => {
    const { params } = JSON.parse(Buffer.from(line).toString()) as { params: { data?: string } };
    bytes += params.data?.length ?? 0;
  };
  await using process = await ExecProcess.start(
    request('head -c 300000 /dev/zero', { spoolDir: file, sink }),
  );
  process.begin();
  expect(await process.ended).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(bytes).toBe(300_000);
  expect(process.state().bytes_stdout).toBe(300_000);
  // A read waits for the disk; only then is it known what was kept.
  expect((await process.read('stdout', INLINE_BYTES - 1, 10)).length).toBe(1);
  expect(process.bytes('stdout')).toBe(INLINE_BYTES);
});
