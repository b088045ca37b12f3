import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { describeExit } from '../../../../src/rexd/exec/exit-state.js';

test('a process that ended by itself keeps its code', () => {
  for (const code of [0, 1, 255])
    expect(describeExit({ code, signal: null }, false)).toEqual({
      status: 'exited',
      exitCode: code,
      signal: null,
    });
});

test('no signal makes a success', () => {
  for (const signal of Object.keys(constants.signals) as NodeJS.Signals[]) {
    const exit = describeExit({ code: null, signal }, false);
    expect(exit).toMatchObject({ status: 'killed', signal });
    expect(exit.exitCode).toBeGreaterThan(128);
  }
});

test('an end without code and signal is no success either', () => {
  expect(describeExit({ code: null, signal: null }, false).exitCode).not.toBe(0);
});

test('whose time was up has timed out, whatever ended it', () => {
  expect(describeExit({ code: null, signal: 'SIGTERM' }, true)).toMatchObject({
    status: 'timed_out',
    exitCode: 143,
  });
  expect(describeExit({ code: 5, signal: null }, true)).toMatchObject({ status: 'timed_out', exitCode: 5 });
});
