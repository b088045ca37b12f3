import type * as NodeFs from 'node:fs';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AuditLog } from '../../../src/guard/audit.js';
import { until } from '../../helpers/wait.js';
import { removeFolder } from '../../helpers/remove-folder.js';

/** A disk that takes its time: writes that are not sync wait here until they are let go. */
const disk = vi.hoisted(() => ({ slow: false, waiting: [] as (() => void)[] }));
/** What other threads do the moment a descriptor has been closed. */
const others = vi.hoisted(() => ({ afterClose: (): unknown => undefined }));

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof NodeFs>();
  const write = async (fd: number, data: Uint8Array): Promise<{ bytesWritten: number }> => {
    if (disk.slow) await new Promise<void>((resolve) => disk.waiting.push(resolve));
    return { bytesWritten: real.writeSync(fd, data) };
  };
  return {
    ...real,
    write: Object.assign(() => {}, { [Symbol.for('nodejs.util.promisify.custom')]: write }),
    closeSync: (fd: number): void => {
      real.closeSync(fd);
      others.afterClose();
    },
  };
});

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-calls-'));
});
afterEach(() => {
  letGo();
  removeFolder(dir);
});

const record = (audit: AuditLog, i: number): void => audit.record({ method: 'test', result: { i } });

function letGo(): void {
  disk.slow = false;
  for (const resolve of disk.waiting.splice(0)) resolve();
}

/** A log with room for about three lines, whose first entry is on its way to the disk. */
async function openInFlight(): Promise<AuditLog> {
  const audit = new AuditLog({ path: join(dir, 'audit.log'), maxBytes: 300, keep: 100, maxQueuedBytes: 400 });
  disk.slow = true;
  record(audit, 0);
  await until(() => disk.waiting.length > 0, 'the write to be under way');
  return audit;
}

/** Every entry in the log and in what it was rotated to. */
function numbers(): number[] {
  const lines = readdirSync(dir)
    .filter((name) => name.startsWith('audit.log'))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n'))
    .filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { result: { i: number } }).result.i).sort((a, b) => a - b);
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(dir) ? [path] : [];
    } catch {
      return []; // the descriptor of this very listing
    }
  });
}

/** Somebody who opens a file whenever a number has become free. */
function meetStranger(): { readonly path: string } & Disposable {
  const path = join(dir, 'stranger');
  const fds: number[] = [];
  others.afterClose = () => fds.push(openSync(path, 'a'));
  return {
    path,
    [Symbol.dispose]: () => {
      others.afterClose = () => undefined;
      for (const fd of fds) closeSync(fd);
    },
  };
}

const flushes: readonly [string, (audit: AuditLog) => void][] = [
  ['a caller who outruns the disk', () => {}],
  ['flushSync, which does not see it arrive', (audit) => audit.flushSync()],
];

test.each(flushes)('a write under way goes to the log though %s has rotated it', async (_who, flush) => {
  const audit = await openInFlight();
  {
    using stranger = meetStranger();
    for (let i = 1; i < 20; i++) record(audit, i);
    flush(audit);
    expect(readdirSync(dir)).toContain('audit.log.1');
    letGo();
    await audit.flush();
    expect(readFileSync(stranger.path, 'utf8')).toBe('');
  }
  expect([...new Set(numbers())]).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(openFiles()).toEqual([join(dir, 'audit.log')]);
  await audit.close();
  expect(openFiles()).toEqual([]);
});

test('a write under way that has arrived is seen by flushSync also after a rotation, and not repeated', async () => {
  const audit = await openInFlight();
  for (let i = 1; i < 20; i++) record(audit, i);
  // The bytes are in the file, but the news of it cannot reach us before the next turn.
  letGo();
  await Promise.resolve();
  audit.flushSync();
  await audit.close();
  expect(numbers()).toEqual(Array.from({ length: 20 }, (_, i) => i));
});
