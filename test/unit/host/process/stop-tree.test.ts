import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newConfinedScope, newDetachedMark, newScope } from '../../../../src/host/process/mark.js';
import { addLeader, removeLeader } from '../../../../src/host/process/roster.js';
import { spawnProcess } from '../../../../src/host/process/spawn.js';
import { GRACE_MS, KILL_WAIT_MS, stopTree } from '../../../../src/host/process/stop-tree.js';
import { type Grove, plantGrove } from '../../../fixtures/process/grove.js';
import { isAlive } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';

const NO_SUCH_PID = 4_194_305; // one more than the largest there can be
const DEAF_KINDS = ['deaf', 'session', 'daemon', 'cleared', 'cleared-leader', 'cleared-member', 'spawner'];

let grove: Grove;
beforeAll(async () => {
  grove = plantGrove();
  await (await spawnProcess({ argv: ['true'] })).close(); // the first start waits for things that all others share
});
afterAll(() => grove[Symbol.dispose]());

/** Starts a tree and waits until at least `count` of its processes are there. */
async function grow(kind: string, count = 2) {
  const held = await spawnProcess({ argv: grove.tree(kind) });
  held.stdout?.discard();
  held.stderr?.discard();
  await until(() => grove.alive().length >= count, `${kind} to grow`);
  return held;
}

test('a tree that listens ends at TERM, and nobody is killed', async () => {
  const held = await grow('family', 5);
  const report = await held.stop({ graceMs: 60_000 });
  expect(grove.alive()).toEqual([]);
  expect(report).toEqual({ asked: 5, killed: 0 });
  expect(await held.exited).toMatchObject({ code: null, signal: 'SIGTERM' });
});

test.each(DEAF_KINDS)('nobody of a %s tree is left after the grace', async (kind) => {
  const held = await grow(kind);
  await until(() => grove.hasDeaf(), 'the deaf one to be deaf');
  const { killed } = await held.stop({ graceMs: 30 });
  expect(grove.alive()).toEqual([]);
  expect(killed).toBeGreaterThan(0);
  await held.exited;
});

test('someone who holds the output of an ended leader is found by the pipe', async () => {
  const held = await grow('cleared-orphan', 1);
  expect(await held.leaderExit).toEqual({ code: 0, signal: null });
  await until(() => grove.alive().every(({ ppid }) => ppid !== held.pid), 'the orphan to be one');
  await held.stop({ graceMs: 0 });
  expect(grove.alive()).toEqual([]);
});

test('a member of the session that has no mark is found after the leader has ended', async () => {
  const held = await spawnProcess({
    argv: ['sh', '-c', 'env -i "$0" 300 >/dev/null 2>&1 & exit 0', grove.nap],
  });
  await held.exited;
  expect(grove.alive()).toHaveLength(1);
  await held.stop();
  expect(grove.alive()).toEqual([]);
});

test('a stopped process is woken to hear TERM', async () => {
  const held = await grow('stopped', 1);
  await until(() => grove.alive().some(({ state }) => state === 'T'), 'the process to stop');
  expect(await held.stop({ graceMs: 60_000 })).toEqual({ asked: 1, killed: 0 });
});

test('callers who come together share one ladder, and the shortest grace counts', async () => {
  const held = await grow('deaf');
  const patient = held.stop({ graceMs: 60_000 });
  const hurried = held.stop({ graceMs: 0 });
  expect(await hurried).toBe(await patient);
  expect(grove.alive()).toEqual([]);
});

test('stopping what is gone does nothing, however often', async () => {
  const held = await spawnProcess({ argv: ['true'] });
  await held.exited;
  expect(await held.stop()).toEqual({ asked: 0, killed: 0 });
  await held.close();
  await held.close();
  expect(held.signal.aborted).toBe(true);
});

test('a scope stops all of its own and nobody else', async () => {
  const scope = newScope();
  const inside = [
    await spawnProcess({ argv: [grove.nap, '300'], scope }),
    await spawnProcess({ argv: grove.tree('daemon'), scope }),
  ];
  for (const each of inside) each.stdout?.discard();
  await using outside = await spawnProcess({ argv: [grove.nap, '301'] });
  await until(() => grove.alive().length >= 5 && grove.hasDeaf(), 'all to be there');
  await stopTree(scope, { graceMs: 30 });
  expect(grove.alive().map(({ pid }) => pid)).toEqual([outside.pid]);
});

test('a detached process outlives the tree it was started from', async () => {
  const held = await spawnProcess({
    argv: [grove.nap, '300'],
    detachedMark: newDetachedMark(),
    stdout: 'none',
    stderr: 'none',
  });
  await held.close();
  expect(grove.alive().map(({ pid }) => pid)).toEqual([held.pid]);
  await stopTree(held.mark);
  expect(grove.alive()).toEqual([]);
});

describe('a mark that says detached', () => {
  /** `$1` is that mark. The leader waits; those below it have left its session, and one of them its environment. */
  const HIDING = {
    'on a child': 'HAWSER_MARK=$1 setsid "$0" 300 & echo; wait',
    'on a grandchild': 'HAWSER_MARK=$1 setsid sh -c \'setsid "$0" 300 & wait\' "$0" & echo; wait',
    'below a leader without any': 'exec env -i sh -c \'HAWSER_MARK=$1 setsid "$0" 300 & echo; wait\' "$0" $1',
  };
  const hide = async (command: string, scope: string) => {
    const held = await spawnProcess({ argv: ['sh', '-c', command, grove.nap, newDetachedMark()], scope });
    await held.stdout?.read();
    const hidden = `${grove.nap} 300`;
    await until(() => grove.alive().some(({ command }) => command === hidden), 'the hidden one to be there');
    held.stdout?.discard();
    held.stderr?.discard();
    return held;
  };

  test.each(Object.entries(HIDING))('%s hides nobody in a confined scope', async (_where, command) => {
    const held = await hide(command, newConfinedScope());
    await held.stop({ graceMs: 0 });
    expect(grove.alive()).toEqual([]);
  });

  test.each(Object.entries(HIDING).slice(0, 2))(
    '%s of a confined command hides nobody from the sweep of all, either',
    async (_where, command) => {
      const all = newScope();
      await hide(command, newConfinedScope(all));
      await stopTree(all, { graceMs: 0 });
      expect(grove.alive()).toEqual([]);
    },
  );

  test('hides nobody who holds an output of a confined scope, though its parent is gone', async () => {
    const orphan = '(HAWSER_MARK=$1 setsid "$0" 300 &) ; echo';
    const held = await hide(orphan, newConfinedScope());
    await held.leaderExit;
    await held.stop({ graceMs: 0 });
    expect(grove.alive()).toEqual([]);
  });

  test('is believed elsewhere: a host of the tree has started it', async () => {
    const held = await hide(HIDING['on a child'], newScope());
    await held.stop({ graceMs: 0 });
    const [left] = grove.alive();
    expect(grove.alive()).toHaveLength(1);
    process.kill(left?.pid ?? 0, 'SIGKILL');
    await until(() => grove.alive().length === 0, 'its end');
  });
});

describe('unless told otherwise', () => {
  const stopTime = (): void =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  afterEach(() => void vi.useRealTimers());
  /** Sweeps are made between timers, in turns of the event loop that are real. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      await vi.advanceTimersByTimeAsync(10);
      await setImmediate();
    }
  };

  test('2 s pass between TERM and KILL', async () => {
    const held = await grow('deaf');
    await until(() => grove.hasDeaf(), 'the deaf one to be deaf');
    stopTime();
    const settled = vi.fn<() => void>();
    const stopped = held.stop().finally(settled);
    await vi.advanceTimersByTimeAsync(GRACE_MS - 1);
    expect(isAlive(held.pid)).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(await held.leaderExit).toEqual({ code: null, signal: 'SIGKILL' });
    while (settled.mock.calls.length === 0) await vi.advanceTimersByTimeAsync(10); // until a sweep finds nobody
    expect((await stopped).killed).toBeGreaterThan(0);
    expect(grove.alive()).toEqual([]);
  });

  test('one that does not go when killed is given up after 5 s, by its pid', async () => {
    const scope = newScope();
    addLeader(NO_SUCH_PID, scope); // no program can refuse KILL; to us it looks the same when no end is ever reported
    stopTime();
    const settled = vi.fn<() => void>();
    const stopped = stopTree(scope, { graceMs: 0 }).catch((error: unknown) => error);
    void stopped.then(settled);
    await pass(KILL_WAIT_MS);
    expect(settled).not.toHaveBeenCalled();
    await pass(200); // it looks about every 100 ms by then
    removeLeader(NO_SUCH_PID);
    expect(settled).toHaveBeenCalledOnce();
    expect(await stopped).toMatchObject({ code: 'survivors', pids: [NO_SUCH_PID] });
  });
});

const KILLS = runs(500, 120);

describe(`${KILLS} kills at random moments`, () => {
  const KINDS = [...DEAF_KINDS, 'family', 'holder', 'stopped', 'cleared-orphan', 'grove'];
  const AT_ONCE = 5;

  test('leave nobody', { timeout: 300_000 }, async () => {
    let started = 0;
    const lane = async (): Promise<void> => {
      while (started < KILLS) {
        const kind = KINDS[started++ % KINDS.length] ?? '';
        const held = await spawnProcess({ argv: grove.tree(kind) });
        held.stdout?.discard();
        held.stderr?.discard();
        await delay(Math.random() * 50);
        await held.stop({ graceMs: Math.random() < 0.5 ? 0 : Math.random() * 40 });
        await held.exited;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    expect(grove.alive()).toEqual([]);
  });
});
