// How many processes a session may have: each is counted once, from the request on until its end.

import { expect, test } from 'vitest';
import { LimitSet } from '../../../../src/guard/limits.js';
import {
  MAX_ENDED_PROCESSES,
  MAX_VISITED_PROCESSES,
  Processes,
} from '../../../../src/rexd/exec/processes.js';
import type { SessionProcess } from '../../../../src/rexd/exec/session-process.js';
import { REXD_LIMITS } from '../../../../src/rexd/limits.js';

let made = 0;

interface StandIn extends SessionProcess {
  running: boolean;
  forgotten: boolean;
}

/** Only what the list asks of a process. */
function standIn(): StandIn {
  const process = {
    id: `p_${(made += 1)}`,
    running: true,
    forgotten: false,
    close: () => Promise.resolve(),
    forget: () => {
      process.forgotten = true;
      return Promise.resolve();
    },
  };
  return process as unknown as StandIn;
}

const processes = (max: number): Processes =>
  new Processes(new LimitSet(REXD_LIMITS, { max_processes_per_session: max }));

/** Takes a place and gives it back, or says which step found none. */
async function tryOne(all: Processes): Promise<boolean> {
  try {
    const process = await all.start(() => Promise.resolve(standIn()));
    process.running = false;
    return true;
  } catch {
    return false;
  }
}

test('a process that has just become known is not counted as being started too', async () => {
  for (let step = 0; step < 12; step++) {
    const all = processes(2);
    const started = Promise.resolve(standIn());
    const first = all.start(() => started);
    const second = async (): Promise<boolean> => {
      await started;
      for (let n = 0; n < step; n++) await Promise.resolve();
      return await tryOne(all);
    };
    const [, found] = await Promise.all([first, second()]);
    expect(found, `at step ${step}`).toBe(true);
  }
});

test('of many requests at once just as many get a place as there are, at whatever step they come', async () => {
  const all = processes(3);
  const attempts = Array.from({ length: 30 }, async (_, step) => {
    for (let n = 0; n < step; n++) await Promise.resolve();
    return await all.start(() => Promise.resolve(standIn()));
  });
  const outcomes = await Promise.allSettled(attempts);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(all.running).toBe(3);
});

test('a start that fails gives its place back', async () => {
  const all = processes(1);
  await expect(all.start(() => Promise.reject(new Error('no such program')))).rejects.toThrow('no such');
  expect(await tryOne(all)).toBe(true);
});

test('of the ended ones MAX_ENDED_PROCESSES are kept, and the oldest go first', async () => {
  const all = processes(8);
  const ended: StandIn[] = [];
  for (let n = 0; n < MAX_ENDED_PROCESSES + 3; n++) {
    const process = await all.start(() => Promise.resolve(standIn()));
    process.running = false;
    ended.push(process);
  }
  await all.start(() => Promise.resolve(standIn()));
  expect(ended.map(({ forgotten }) => forgotten).indexOf(false)).toBe(3);
  expect(all.all()).toHaveLength(MAX_ENDED_PROCESSES + 1);
});

test('of processes of nobody MAX_VISITED_PROCESSES are remembered, and closed with the session', async () => {
  const all = processes(1);
  const closed: string[] = [];
  for (let n = 0; n <= MAX_VISITED_PROCESSES; n++) {
    const process = standIn();
    all.visit(Object.assign(process, { close: () => Promise.resolve(void closed.push(process.id)) }));
  }
  expect(all.running).toBe(0);
  await all.closeAll();
  expect(closed).toHaveLength(MAX_VISITED_PROCESSES);
});

test('one with which something is under way is not pushed out by others that are asked about', async () => {
  const all = processes(1);
  const busy = Object.assign(standIn(), { busy: true });
  all.visit(busy);
  for (let n = 0; n < 2 * MAX_VISITED_PROCESSES; n++) all.visit(standIn());
  expect(all.find(busy.id)).toBe(busy);
  await all.closeAll();
});

test('one whose session is closed while it starts is discarded, not only let go', async () => {
  const all = processes(1);
  let discarded = 0;
  const process = Object.assign(standIn(), { discard: () => Promise.resolve(void (discarded += 1)) });
  let arrive = (): void => {};
  const starting = all.start(
    () =>
      new Promise<StandIn>((resolve) => {
        arrive = () => resolve(process);
      }),
  );
  const closing = all.closeAll();
  arrive();
  await expect(starting).rejects.toMatchObject({ code: -32005 });
  await closing;
  expect(discarded).toBe(1);
});

test('one that cannot be forgotten in good order is nobody else’s failure', async () => {
  const all = processes(1);
  for (let n = 0; n <= MAX_ENDED_PROCESSES; n++) {
    const forget = (): Promise<void> => Promise.reject(new Error('a broken disk'));
    const process = await all.start(() => Promise.resolve(Object.assign(standIn(), { forget })));
    process.running = false;
  }
  expect(await tryOne(all)).toBe(true);
});
