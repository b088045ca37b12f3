import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FifoPool, MAX_FIFO_BATCH } from '../../../../src/host/process/fifo-pool.js';
import { makePrivateDir, sweepPrivateDirs } from '../../../../src/host/process/private-dir.js';
import { readPidNamespace } from '../../../../src/host/process/proc-table.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'station-'));
});
afterEach(() => removeFolder(dir));

test('a private directory is ours alone and made in the first place that can be written', () => {
  const made = makePrivateDir(['/proc', join(dir, 'missing'), dir]);
  expect(made?.startsWith(join(dir, `hawser-${process.pid}.`))).toBe(true);
  expect(statSync(made ?? '').mode & 0o777).toBe(0o700);
  expect(makePrivateDir(['/proc'])).toBeUndefined();
});

test('directories of dead processes are swept, those of living ones and of other worlds are not', () => {
  const alive = makePrivateDir([dir]) ?? '';
  const here = readPidNamespace();
  const dead = join(dir, `hawser-${process.pid}.1.${here}-abcdef`); // our pid, but another start
  const gone = join(dir, `hawser-4194304.1.${here}-abcdef`);
  const others = ['hawser-notes', `hawser-4194304.1.1${here}-abcdef`, 'hawser-1.2-x'].map((name) =>
    join(dir, name),
  );
  for (const each of [dead, gone, ...others]) mkdirSync(each);
  expect(sweepPrivateDirs([dir, join(dir, 'missing')])).toBe(2);
  expect(readdirSync(dir).sort()).toEqual([alive, ...others].map((path) => basename(path)).sort());
});

test('a pool gives pipes without a name, and makes more as they are used, up to its batch', async () => {
  const pool = new FifoPool(dir);
  expect(pool.open()).toBeUndefined();
  let most = 0;
  for (let i = 0; i < 1000; i++) {
    await pool.prepare(1);
    const fifo = pool.open();
    if (fifo === undefined) throw new Error('no pipe');
    expect(existsSync(fifo.path)).toBe(false);
    writeSync(fifo.writeFd, 'hello');
    const got = Buffer.alloc(10);
    expect(got.toString('utf8', 0, readSync(fifo.readFd, got, 0, 10, null))).toBe('hello');
    closeSync(fifo.writeFd);
    expect(readSync(fifo.readFd, got, 0, 10, null)).toBe(0);
    closeSync(fifo.readFd);
    most = Math.max(most, pool.ready);
  }
  expect(most).toBeGreaterThan(MAX_FIFO_BATCH / 2);
  expect(most).toBeLessThanOrEqual(MAX_FIFO_BATCH * 2);
  await until(() => readdirSync(dir).length === pool.ready, 'the last batch to be made');
});

test('a pool whose directory is taken away says that it is of no use, and nothing hangs', async () => {
  const pool = new FifoPool(dir);
  await pool.prepare(2);
  removeFolder(dir);
  expect(pool.open()).toBeUndefined();
  expect(pool.usable).toBe(false);
  await pool.prepare(100);
});

test('a program started when there is no mkfifo gets ordinary pipes', () => {
  const script = `
    import { spawnProcess } from ${JSON.stringify(join(process.cwd(), 'src/host/process/spawn.ts'))};
    const held = await spawnProcess({ argv: ['/bin/sh', '-c', '/bin/cat; echo out'], stdin: Buffer.from('in ') });
    let text = '';
    for await (const chunk of held.stdout) text += chunk;
    await held.exited;
    process.stdout.write(text);`;
  const run = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    env: { ...process.env, PATH: dir },
    encoding: 'utf8',
  });
  expect(run.stdout).toBe('in out\n');
});
