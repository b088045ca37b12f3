// What this machine has to serve models with.

import { readdir, readFile, statfs } from 'node:fs/promises';
import { arch, cpus, platform, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

export interface Machine {
  readonly os: string;
  readonly arch: string;
  readonly cpuModel: string;
  readonly logicalCores: number;
  readonly physicalCores: number;
  readonly memoryBytes: number;
  readonly disk: { readonly totalBytes: number; readonly availableBytes: number };
  readonly gpus: readonly { readonly name: string; readonly memory: number | null }[];
}

/** `folder`: whose disk is meant; it need not be there yet. */
export async function lookAtMachine(folder: string): Promise<Machine> {
  const cores = cpus();
  return {
    os: platform(),
    arch: arch(),
    cpuModel: cores[0]?.model.trim() ?? 'unknown',
    logicalCores: Math.max(cores.length, 1),
    physicalCores: await countPhysicalCores(Math.max(cores.length, 1)),
    memoryBytes: await memoryForUs(),
    disk: await diskOf(folder),
    gpus: await nvidiaCards(),
  };
}

/** The pairs of socket and core that the kernel lists; as many as there are threads where it lists none. */
async function countPhysicalCores(logical: number): Promise<number> {
  const text = await readFile('/proc/cpuinfo', 'latin1').catch(() => '');
  const pairs = text
    .split('\n\n')
    .map((block) => [/^physical id\s*:\s*(\d+)/m.exec(block)?.[1], /^core id\s*:\s*(\d+)/m.exec(block)?.[1]])
    .filter(([, core]) => core !== undefined)
    .map((pair) => pair.join(':'));
  return new Set(pairs).size || logical;
}

/** What a container may use, where that is less than the machine has. */
async function memoryForUs(): Promise<number> {
  const limit = Number(await readFile('/sys/fs/cgroup/memory.max', 'latin1').catch(() => ''));
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

async function diskOf(folder: string): Promise<Machine['disk']> {
  const found = await statfs(folder).catch(() => undefined);
  if (found !== undefined)
    return { totalBytes: found.blocks * found.bsize, availableBytes: found.bavail * found.bsize };
  const above = dirname(folder);
  return above === folder ? { totalBytes: 0, availableBytes: 0 } : await diskOf(above);
}

/** As the driver tells it, without a program of its maker. It does not tell the memory. */
async function nvidiaCards(): Promise<Machine['gpus']> {
  const folder = '/proc/driver/nvidia/gpus';
  const cards = await readdir(folder).catch(() => []);
  const texts = await Promise.all(
    cards.map((card) => readFile(join(folder, card, 'information'), 'utf8').catch(() => '')),
  );
  return texts.map((text) => ({
    name: /^Model:\s*(.+)$/m.exec(text)?.[1]?.trim() ?? 'NVIDIA',
    memory: null,
  }));
}
