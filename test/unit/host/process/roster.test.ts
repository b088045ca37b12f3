import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { MAX_NAMED_LEADERS, nameLeaders } from '../../../../src/host/process/guardian.js';
import { newChildMark } from '../../../../src/host/process/mark.js';
import {
  addLeader,
  leaderOf,
  leadersUnder,
  removeLeader,
  stragglersUnder,
} from '../../../../src/host/process/roster.js';
import { SurvivorsError, stopTree } from '../../../../src/host/process/stop-tree.js';

test('of the members of an ended leader’s session no more are remembered than the limit allows', async () => {
  const mark = newChildMark();
  const leader = spawn('sh', ['-c', 'sleep 300 & sleep 300 & sleep 300 & exit'], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'] }, // no mark: only the roster knows them
  });
  const pid = leader.pid ?? 0;
  addLeader(pid, mark);
  expect([leaderOf(mark), leadersUnder(mark)]).toEqual([pid, new Set([pid])]);
  await once(leader, 'exit');
  removeLeader(pid, 2);
  expect(stragglersUnder(mark)).toHaveLength(2);
  expect(leaderOf(mark)).toBeUndefined();
  // The third is of the same session, and found by that.
  expect(await stopTree(mark, { graceMs: 60_000 })).toEqual({ asked: 3, killed: 0 });
});

test('no more leaders are named to the guardian than the limit allows, and none that are gone', () => {
  const crowd = Array.from({ length: MAX_NAMED_LEADERS + 500 }, () => process.pid);
  expect(nameLeaders(crowd).split(' ')).toHaveLength(MAX_NAMED_LEADERS);
  expect(nameLeaders([4_194_304, process.pid])).toMatch(new RegExp(`^${process.pid}:\\d+$`));
  expect(nameLeaders([])).toBe('');
});

test('someone who does not go in time is named', async () => {
  const mark = newChildMark();
  addLeader(4_194_304, mark); // nobody has this pid, and nobody will ever reap it
  const refused = await stopTree(mark, { graceMs: 0, killWaitMs: 50 }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SurvivorsError);
  expect(refused).toMatchObject({ code: 'survivors', pids: [4_194_304] });
  removeLeader(4_194_304);
  expect(await stopTree(mark)).toEqual({ asked: 0, killed: 0 });
});
