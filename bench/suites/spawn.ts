// spawn: how many programs a second can be started and waited for, beside bare child_process.spawn.

import { bundle } from '../harness/bundle.js';
import { BenchChild } from '../harness/child.js';
import type { Cleanup } from '../harness/cleanup.js';
import { treeCpuMs } from '../harness/cpu-time.js';
import { LineClient } from '../harness/line-client.js';
import type { Case, Contender, Role, Suite } from '../harness/types.js';

const OURS = 'spawnProcess';
const BOUND = 0.85;
const AT_ONCE = [1, 8];

interface Driver {
  readonly name: string;
  readonly role: Role;
  readonly client: LineClient;
  readonly pid: number;
}

export const spawnSuite: Suite = {
  name: 'spawn',
  summary: '/bin/true started and waited for with both outputs read, vs bare child_process.spawn',
  async prepare(_context, cleanup) {
    const path = await bundle(new URL('../bundled/spawn-driver.ts', import.meta.url));
    const drivers = [
      await startDriver('child_process.spawn', 'limit', [path, 'bare'], cleanup),
      await startDriver(OURS, 'ours', [path, 'host'], cleanup),
    ];
    return AT_ONCE.map(
      (atOnce): Case => ({
        name: atOnce === 1 ? 'one after the other' : `${atOnce} at a time`,
        measure: 'rate',
        unit: 'per second',
        scale: 1,
        contenders: drivers.map((driver) => contender(driver, atOnce)),
        targets: [{ contender: OURS, bound: BOUND }],
      }),
    );
  },
};

async function startDriver(
  name: string,
  role: Role,
  args: readonly string[],
  cleanup: Cleanup,
): Promise<Driver> {
  const child = cleanup.use(await BenchChild.start(name, [process.execPath, ...args]));
  return { name, role, client: new LineClient(child), pid: child.pid };
}

function contender({ name, role, client, pid }: Driver, atOnce: number): Contender {
  return {
    name,
    role,
    async run(ops) {
      await client.ask(1, 'run', { ops, atOnce });
    },
    cpuMs: () => treeCpuMs(pid),
  };
}
