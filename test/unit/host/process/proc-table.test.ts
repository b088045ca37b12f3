import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findVariable,
  isAlive,
  isDead,
  parseStat,
  readFdLink,
  readPidNamespace,
  readStat,
  readTable,
  readVariable,
} from '../../../../src/host/process/proc-table.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';

const pid = fc.integer({ min: 1, max: 4_194_304 });
const ticks = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

test('a stat line is read right whatever the name of the process holds', () => {
  const stat = fc.record({
    pid,
    name: fc.string({ maxLength: 15, unit: fc.constantFrom(' ', '(', ')', '\n', '1', 'S', 'a', '\t', 'é') }),
    state: fc.constantFrom('R', 'S', 'D', 'Z', 'T', 't', 'X', 'I'),
    ppid: pid,
    pgid: pid,
    sid: pid,
    foregroundGroup: fc.oneof(fc.constant(-1), pid),
    startTicks: ticks,
    threads: fc.nat(5000),
    rest: fc.array(fc.integer(), { minLength: 11, maxLength: 11 }),
    tail: fc.array(fc.nat(), { minLength: 1, maxLength: 30 }),
  });
  fc.assert(
    fc.property(stat, ({ name, rest, tail, ...facts }) => {
      const { pid, state, ppid, pgid, sid, foregroundGroup, threads, startTicks } = facts;
      const fields = [
        state,
        ppid,
        pgid,
        sid,
        34816,
        foregroundGroup,
        ...rest,
        threads,
        0,
        startTicks,
        ...tail,
      ];
      const line = `${pid} (${name}) ${fields.join(' ')}\n`;
      expect(parseStat(line)).toEqual(facts);
    }),
    { numRuns: runs(10_000) },
  );
});

test('anything else is no stat line, and never an exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(Number.isSafeInteger(parseStat(text)?.startTicks ?? 0)).toBe(true);
    }),
    { numRuns: runs(5000) },
  );
});

test('a line that is cut off before the start time is no stat line', () => {
  const whole = readFileSync('/proc/self/stat', 'latin1');
  const fields = whole.split(' ');
  for (let count = 0; count < 22; count += 1)
    expect(parseStat(fields.slice(0, count).join(' '))).toBeUndefined();
  expect(parseStat(fields.slice(0, 22).join(' '))?.pid).toBe(process.pid);
});

test('a variable is found only as a whole name at the beginning of an entry', () => {
  const entry = fc.tuple(fc.stringMatching(/^[AB]{0,3}$/), fc.stringMatching(/^[AB=]{0,5}$/));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), fc.stringMatching(/^[AB]{1,3}$/), (entries, name) => {
      const environ = Buffer.from(entries.map(([key, value]) => `${key}=${value}\0`).join(''));
      // An empty name makes an entry that begins with `=`, which is nobody's.
      expect(findVariable(environ, name)).toBe(entries.find(([key]) => key === name)?.[1]);
    }),
    { numRuns: runs(5000) },
  );
});

test('a variable is found in an environment larger than the buffer, also without a final zero', async () => {
  const child = spawn('sleep', ['100'], { env: { BIG: 'x'.repeat(100_000), TAIL: 'found' } });
  await until(
    () => readVariable(child.pid ?? 0, 'TAIL') === 'found',
    'the variable behind 100 kB to be found',
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(findVariable(Buffer.from('A=1\0B=2'), 'B')).toBe('2');
});

test('the table holds ourselves, and identity tells a process from a later one with its pid', () => {
  const self = readTable().find((stat) => stat.pid === process.pid);
  expect(self).toMatchObject({ ppid: process.ppid, state: 'R' });
  const identity = { pid: process.pid, startTicks: self?.startTicks ?? 0 };
  expect(isAlive(identity)).toBe(true);
  expect(isAlive({ ...identity, startTicks: identity.startTicks - 1 })).toBe(false);
});

test('a zombie is dead though it has a pid', async () => {
  // The shell forks, becomes a sleep that never waits, and its child ends.
  const child = spawn('sh', ['-c', 'true & exec sleep 100'], { stdio: 'ignore' });
  const zombie = await until(
    () => readTable().find((stat) => stat.ppid === child.pid && isDead(stat)),
    'the child of the sleep to be a zombie',
  );
  expect(isAlive(zombie)).toBe(false);
  expect(readVariable(zombie.pid, 'PATH')).toBeUndefined();
  child.kill('SIGKILL');
  await once(child, 'exit');
});

test('a program whose first thread has ended is not dead while another one runs', () => {
  const ids = { pid: 1, ppid: 1, pgid: 1, sid: 1, foregroundGroup: -1 };
  const zombie = { ...ids, state: 'Z', startTicks: 1, threads: 1 };
  expect([1, 2].map((threads) => isDead({ ...zombie, threads }))).toEqual([true, false]);
});

test('what is gone has no facts', () => {
  expect(readStat(4_194_304)).toBeUndefined();
  expect(readVariable(4_194_304, 'PATH')).toBeUndefined();
  expect(readFdLink(4_194_304, 1)).toBeUndefined();
  expect(readPidNamespace()).toMatch(/^[1-9]\d+$/);
});
