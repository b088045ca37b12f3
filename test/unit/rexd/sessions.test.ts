// The end of a session: of all that it has started, whatever it still remembers of it.

import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAX_TIMER_MS } from '../../../src/base/deadline.js';
import { LimitSet } from '../../../src/guard/limits.js';
import { Roots } from '../../../src/guard/roots.js';
import { newChildMark } from '../../../src/host/process/mark.js';
import { addLeader, removeLeader } from '../../../src/host/process/roster.js';
import { stopTree } from '../../../src/host/process/stop-tree.js';
import { ExecProcess } from '../../../src/rexd/exec/exec-process.js';
import { MAX_ENDED_PROCESSES } from '../../../src/rexd/exec/processes.js';
import { markOf } from '../../../src/rexd/exec/session-mark.js';
import type { SessionProcess } from '../../../src/rexd/exec/session-process.js';
import { REXD_LIMITS } from '../../../src/rexd/limits.js';
import { closeSession } from '../../../src/rexd/methods/session-close.js';
import { PtyProcess } from '../../../src/rexd/pty/pty-process.js';
import { type Session, SessionPlaces, Sessions } from '../../../src/rexd/sessions.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { removeFolder } from '../../helpers/remove-folder.js';

/** Above all pids: nobody has it, and nobody will ever reap it. */
const NOBODY = 4_194_304;
const KILL_WAIT_MS = 4000;

let dir: string;
let sessions: Sessions;
let session: Session;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hawser-session-'));
  sessions = new Sessions(new SessionPlaces(1));
  session = sessions.open({ clientName: 'c', roots: Roots.open([dir]), limits: new LimitSet(REXD_LIMITS) });
});
afterEach(async () => {
  await sessions.close();
  removeFolder(dir);
});

const facts = (command: string) => ({
  sessionId: session.id,
  argv: ['sh', '-c', command],
  cwd: dir,
  shownCwd: dir,
  env: { PATH: process.env['PATH'] ?? '' },
  scope: markOf(session),
  spoolDir: join(dir, 'spool'),
  sink: () => undefined,
});

async function run(command: string): Promise<ExecProcess> {
  const more = { id: `p_${command}`, stdin: Buffer.alloc(0), stdinOpen: false };
  const started = await session.processes.start(() =>
    ExecProcess.start({ ...facts(command), ...more, timeoutMs: 60_000, maxOutputBytes: 2 ** 20 }),
  );
  started.begin();
  return started;
}

/** One that has ended and has nothing to do with the mark of the session, as a detached one. */
const standIn = (id: string): SessionProcess =>
  ({ id, running: false, detached: true, close: () => Promise.resolve() }) as unknown as SessionProcess;

test('what a command has left ends with the session, also when only detached processes are still remembered', async () => {
  const left = await run('setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! > left');
  await left.ended;
  for (let n = 0; n <= MAX_ENDED_PROCESSES; n++)
    await session.processes.start(() => Promise.resolve(standIn(`d_${n}`)));
  expect(session.processes.find(left.id)).toBeUndefined();
  const pid = Number(readFileSync(join(dir, 'left'), 'utf8'));
  expect(isAlive(pid)).toBe(true);
  await sessions.end(session.id);
  expect(isAlive(pid)).toBe(false);
});

test('a program that cannot be ended is named; all else ends, and nothing of it stays on disk', async () => {
  const plain = await run('head -c 300000 /dev/zero; echo up > up; sleep 1000');
  const terminal = await session.processes.start(() =>
    PtyProcess.start({
      ...facts('sleep 1000'),
      size: { cols: 80, rows: 24 },
      timeoutMs: undefined,
      keptBytes: 2 ** 20,
    }),
  );
  terminal.begin();
  await until(() => existsSync(join(dir, 'up')), 'its output');
  await plain.read('stdout', 290_000, 10); // on disk by now
  expect(readdirSync(join(dir, 'spool'))).toHaveLength(1);
  addLeader(NOBODY, newChildMark(markOf(session)));
  try {
    // The session's own joins it; all but one are gone long before, also where the machine has much else to do.
    const impatient = stopTree(markOf(session), { graceMs: 0, killWaitMs: KILL_WAIT_MS }).catch(() => {});
    const refused = closeSession({ session_id: session.id }, { sessions });
    await expect(refused).rejects.toMatchObject({
      code: -32603,
      message: `The session is closed, but not all of its programs could be ended: ${NOBODY}`,
      data: { pids: [NOBODY] },
    });
    await impatient;
    expect([plain.pid, terminal.pid].filter(isAlive)).toEqual([]);
    expect(plain.exit).toMatchObject({ status: 'killed' }); // it was waited for
    expect(readdirSync(join(dir, 'spool'))).toEqual([]);
    expect(() => sessions.get(session.id)).toThrow('no such session');
    // Its place is free.
    sessions.open({ clientName: 'c', roots: Roots.open([dir]), limits: new LimitSet(REXD_LIMITS) });
  } finally {
    removeLeader(NOBODY);
  }
});

test('a terminal or a detached process that asks for more time than a timer keeps has that much', () => {
  const asked = [MAX_TIMER_MS, MAX_TIMER_MS + 1, 2 ** 40, 5, 0, undefined];
  expect(asked.map((ms) => session.unhurriedTimeoutMs(ms))).toEqual([
    MAX_TIMER_MS,
    MAX_TIMER_MS,
    MAX_TIMER_MS,
    5,
    undefined,
    undefined,
  ]);
});
