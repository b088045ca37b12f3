// The process layer anew, with the launcher of a test's choice: as a host that has just begun.

import { vi } from 'vitest';
import type { SpawnOptions } from '../../src/host/process/spawn.js';
import { until } from './wait.js';

export type LauncherChoice = 'python' | 'perl' | 'none';

export async function loadProcessLayer(choice: LauncherChoice) {
  process.setMaxListeners(64); // each layer removes its directory when the process ends
  vi.resetModules();
  vi.stubEnv('HAWSER_LAUNCHER', choice);
  const { spawnProcess } = await import('../../src/host/process/spawn.js');
  const { useStation } = await import('../../src/host/process/station.js');
  const { stopTree } = await import('../../src/host/process/stop-tree.js');
  vi.unstubAllEnvs();
  const launcher = useStation()?.launcher;
  if (launcher === undefined) throw new Error('there is no place for temporary files');
  const ready = async (): Promise<number> => {
    launcher.prepare();
    await until(() => launcher.ready, 'the launcher to be ready');
    return launcher.pid ?? 0;
  };
  if (choice !== 'none') await ready();
  const run = async (options: SpawnOptions) => {
    const held = await spawnProcess(options);
    const [stdout, stderr] = await Promise.all([drain(held.stdout), drain(held.stderr)]);
    return { ...(await held.exited), stdout, stderr, pid: held.pid, mark: held.mark };
  };
  return { spawnProcess, stopTree, launcher, ready, run };
}

async function drain(pipe: AsyncIterable<Buffer> | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  if (pipe !== undefined) for await (const chunk of pipe) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
