import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isDetachedMark,
  isUnder,
  MARK_VARIABLE,
  markHosts,
  newChildMark,
  newDetachedMark,
  newScope,
  ownMark,
} from '../../../../src/host/process/mark.js';
import { isAlive, readPidNamespace } from '../../../../src/host/process/proc-table.js';
import { runs } from '../../../helpers/runs.js';

const inherited = process.env[MARK_VARIABLE] ?? '';

test('our mark continues the one we were given and names us', () => {
  expect(ownMark().startsWith(`${inherited}/h${process.pid}.`)).toBe(true);
  const host = markHosts(ownMark()).at(-1);
  expect(host).toMatchObject({ pid: process.pid, namespace: readPidNamespace(), prefix: ownMark() });
  expect(host !== undefined && isAlive(host)).toBe(true);
});

test('children and scopes are under our mark, a detached child is not but keeps the root', () => {
  expect(isUnder(newChildMark(), ownMark())).toBe(true);
  const scope = newScope();
  expect(isUnder(newChildMark(scope), scope)).toBe(true);
  const detached = newDetachedMark();
  expect(isUnder(detached, ownMark())).toBe(false);
  expect(isUnder(detached, inherited)).toBe(false);
  expect(detached.startsWith(inherited.split('/')[0] ?? '')).toBe(true);
  expect([detached, newChildMark(detached)].map(isDetachedMark)).toEqual([true, true]);
  expect([ownMark(), newChildMark(), '', 'd_short'].map(isDetachedMark)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('a mark is under a prefix only at the border of a segment', () => {
  const segment = fc.stringMatching(/^[ab.]{1,3}$/);
  const path = fc.array(segment, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(path, path, (mark, prefix) => {
      const expected = prefix.every((each, at) => mark[at] === each);
      expect(isUnder(mark.join('/'), prefix.join('/'))).toBe(expected);
    }),
    { numRuns: runs(5000) },
  );
});

test('hosts are read from the outside in, each with the prefix that finds its subtree', () => {
  expect(markHosts('test/h12.34.56/g_1/p_2/h7.8.9/p_3')).toEqual([
    { pid: 12, startTicks: 34, namespace: '56', prefix: 'test/h12.34.56' },
    { pid: 7, startTicks: 8, namespace: '9', prefix: 'test/h12.34.56/g_1/p_2/h7.8.9' },
  ]);
  expect(markHosts('h1.2/hx.1.2/h1.2.3.4')).toEqual([]);
});
