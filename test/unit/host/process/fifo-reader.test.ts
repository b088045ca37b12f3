import { closeSync, mkdtempSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fifo, FifoPool } from '../../../../src/host/process/fifo-pool.js';
import { readFifo } from '../../../../src/host/process/fifo-reader.js';
import type { PipeSink } from '../../../../src/host/process/pipe-source.js';
import { until } from '../../../helpers/wait.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const dir = mkdtempSync(join(tmpdir(), 'fifo-reader-'));
const pool = new FifoPool(dir);

beforeAll(async () => void (await pool.prepare(8)));
afterAll(() => removeFolder(dir));

function openFifo(): Fifo {
  const fifo = pool.open();
  if (fifo === undefined) throw new Error('no pipe');
  return fifo;
}

class Collector implements PipeSink {
  text = '';
  ends = 0;
  room = true;
  data(chunk: Buffer): boolean {
    this.text += chunk.toString();
    return this.room;
  }
  end(): void {
    this.ends += 1;
  }
}

test('what was written before the end is there when the end of the writer is told, and so is the end', () => {
  const { readFd, writeFd } = openFifo();
  const sink = new Collector();
  const source = readFifo(readFd, sink);
  writeSync(writeFd, 'all of it');
  closeSync(writeFd);
  source.lookNow?.();
  expect([sink.text, sink.ends]).toEqual(['all of it', 1]);
  source.destroy();
  expect(sink.ends).toBe(1);
});

test('output arrives without being asked for, early and late, and the end once', async () => {
  const { readFd, writeFd } = openFifo();
  const sink = new Collector();
  readFifo(readFd, sink);
  writeSync(writeFd, 'early ');
  await until(() => sink.text === 'early ', 'the first words');
  writeSync(writeFd, 'late');
  await until(() => sink.text === 'early late', 'the last words');
  closeSync(writeFd);
  await until(() => sink.ends > 0, 'the end');
  expect(sink.ends).toBe(1);
});

test('a pipe that somebody else still has goes on after the end of the leader', async () => {
  const { readFd, writeFd } = openFifo();
  const sink = new Collector();
  const source = readFifo(readFd, sink);
  source.lookNow?.();
  writeSync(writeFd, 'a child of the leader');
  await until(() => sink.text !== '', 'its words');
  expect(sink.ends).toBe(0);
  source.destroy();
  closeSync(writeFd);
  await until(() => sink.ends === 1, 'the end');
});

test('who has no room is given no more until there is', async () => {
  const { readFd, writeFd } = openFifo();
  const sink = new Collector();
  sink.room = false;
  const source = readFifo(readFd, sink);
  writeSync(writeFd, 'one ');
  await until(() => sink.text === 'one ', 'the first words');
  writeSync(writeFd, 'two');
  closeSync(writeFd);
  source.lookNow?.();
  expect([sink.text, sink.ends]).toEqual(['one ', 0]);
  sink.room = true;
  source.resume();
  await until(() => sink.ends === 1, 'the end');
  expect(sink.text).toBe('one two');
});

test('a writer that never stops does not keep us from everything else', async () => {
  const { readFd, writeFd } = openFifo();
  let chunks = 0;
  const refill: PipeSink = {
    data: () => {
      chunks += 1;
      writeSync(writeFd, 'more');
      return true;
    },
    end: () => {},
  };
  const source = readFifo(readFd, refill);
  writeSync(writeFd, 'some');
  source.lookNow?.();
  expect(chunks).toBe(3);
  source.destroy();
  closeSync(writeFd);
});
