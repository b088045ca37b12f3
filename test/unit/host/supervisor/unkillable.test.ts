import { afterEach, expect, test, vi } from 'vitest';
import type { HostProcess } from '../../../../src/host/process/host-process.js';
import { newScope } from '../../../../src/host/process/mark.js';
import { stopTree } from '../../../../src/host/process/stop-tree.js';
import { Worker, type WorkerOptions } from '../../../../src/host/supervisor/worker.js';
import type { WorkerEvent } from '../../../../src/host/supervisor/worker-event.js';
import { until } from '../../../helpers/wait.js';

const scope = newScope();

afterEach(async () => {
  vi.restoreAllMocks();
  await stopTree(scope, { graceMs: 0 }); // they can be killed now, and are still known
});

function makeWorker(options: Partial<WorkerOptions>) {
  const events: WorkerEvent[] = [];
  const started: HostProcess[] = [];
  const worker = new Worker('w', scope, {
    command: 'sleep',
    args: ['300'],
    graceMs: 0,
    onEvent: (event) => events.push(event),
    ...options,
    attach: (held, self) => {
      started.push(held);
      return options.attach?.(held, self);
    },
  });
  return { worker, started, kinds: () => events.map(({ type }) => type) };
}

test('a worker that cannot be killed is given up: told to stop, or not ready in time', async () => {
  const stopped = makeWorker({});
  const late = makeWorker({ attach: () => new Promise(() => {}), readyTimeoutMs: 10 });
  vi.spyOn(process, 'kill').mockReturnValue(true); // as for a process that waits for a broken disk
  await until(() => stopped.worker.state === 'ready', 'the worker to be ready');
  await Promise.all([stopped.worker.stop({ inputGraceMs: 0 }), late.worker.settled]);
  expect(stopped.kinds()).toEqual(['started', 'ready', 'stop_failed', 'failed']);
  expect(late.kinds()).toEqual(['started', 'start_failed', 'stop_failed', 'failed']);
  for (const { worker, started } of [stopped, late]) {
    expect(worker.state).toBe('failed');
    expect(worker.process).toBeUndefined();
    expect(started).toHaveLength(1);
    expect(await started[0]?.stdout?.read()).toBeUndefined(); // our ends are closed
    await worker.stop();
    expect(worker.state).toBe('failed');
  }
});
