import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LimitSet } from '../../../../src/guard/limits.js';
import { newScope } from '../../../../src/host/process/mark.js';
import { Processes } from '../../../../src/rexd/exec/processes.js';
import { REXD_LIMITS } from '../../../../src/rexd/limits.js';
import { PtyProcess, type PtyRequest } from '../../../../src/rexd/pty/pty-process.js';
import { markedWith } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

interface Event {
  readonly method: string;
  readonly params: Record<string, unknown> & { readonly data?: string };
}

let folder: string;
let events: Event[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hawser-pty-'));
  events = [];
});
afterEach(() => removeFolder(folder));

const request = (argv: readonly string[], more: Partial<PtyRequest> = {}): PtyRequest => ({
  sessionId: 's_1',
  argv,
  cwd: folder,
  shownCwd: folder,
  env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  size: { cols: 80, rows: 24 },
  timeoutMs: undefined,
  keptBytes: 1024 * 1024,
  scope: newScope(),
  spoolDir: join(folder, 'spool'),
  sink: (line) => {
    events.push(JSON.parse(Buffer.from(line).toString('utf8')) as Event);
    return undefined;
  },
  ...more,
});
const shown = (): string => events.map(({ params }) => params.data ?? '').join('');

test('more is shown than is kept: all of it is delivered, the beginning can be read again, and the loss is told', async () => {
  await using terminal = await PtyProcess.start(request(['seq', '1', '20000'], { keptBytes: 1000 }));
  terminal.begin();
  expect(await terminal.ended).toEqual({ status: 'exited', exitCode: 0, signal: null });
  const all = shown();
  expect(all.length).toBe(108_894 + 20_000);
  expect(terminal.state()).toMatchObject({ bytes_stdout: all.length, bytes_stderr: 0 });
  expect(terminal.outputLimitExceeded).toBe(true);
  expect(terminal.bytes('stdout')).toBe(1000);
  expect((await terminal.read('stdout', 0, 2000)).toString()).toBe(all.slice(0, 1000));
  expect((await terminal.read('stdout', 1000, 2000)).length).toBe(0);
});

test('nothing is sent before the client knows the terminal', async () => {
  const command = 'echo early; : >shown; exec cat';
  await using terminal = await PtyProcess.start(request(['sh', '-c', command]));
  await until(() => existsSync(join(folder, 'shown')), 'the program to have shown something');
  expect(events).toEqual([]);
  terminal.begin();
  await until(() => shown() === 'early\r\n', 'it to be sent');
});

test('closing one that the client has not been told of ends it; its last event waits until the client has', async () => {
  const terminal = await PtyProcess.start(request(['cat']));
  await terminal.close();
  expect(events).toEqual([]);
  terminal.begin();
  await terminal.ended;
  expect(events.map(({ method }) => method)).toEqual(['pty.exit']);
  expect(terminal.exit).toMatchObject({ status: 'killed', signal: 'SIGHUP', exitCode: 129 });
});

test('what was spooled is gone after closing', async () => {
  const terminal = await PtyProcess.start(request(['seq', '1', '50000']));
  terminal.begin();
  await terminal.ended;
  // The disk is written to behind everybody's back; only who reads waits for it.
  expect((await terminal.read('stdout', 300_000, 10)).length).toBe(10);
  expect(readdirSync(join(folder, 'spool'))).toHaveLength(1);
  await terminal.close();
  expect(readdirSync(join(folder, 'spool'))).toEqual([]);
});

test('one that is being started while its session ends is ended too, and the end of the session waits for it', async () => {
  const scope = newScope();
  const processes = new Processes(new LimitSet(REXD_LIMITS));
  const starting = processes.start(() => PtyProcess.start(request(['sleep', '600'], { scope })));
  const failed = starting.catch((thrown: unknown) => thrown);
  await processes.closeAll();
  expect(markedWith('HAWSER_MARK', scope)).toEqual([]);
  expect(await failed).toMatchObject({ code: -32005 });
  expect(processes.all()).toEqual([]);
});
