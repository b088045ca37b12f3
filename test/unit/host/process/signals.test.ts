import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { parseSignal, signalName, signalOfStatus } from '../../../../src/host/process/signals.js';

test('a signal is known by name, with or without SIG, in any case, and by number', () => {
  for (const [name, number] of Object.entries(constants.signals)) {
    const spellings = [name, name.slice(3).toLowerCase(), String(number)];
    expect({ name, found: spellings.map(parseSignal) }).toEqual({ name, found: [number, number, number] });
  }
});

test.each([
  ['RTMIN', 34],
  ['SIGRTMIN+2', 36],
  ['RTMAX-1', 63],
  ['64', 64],
  ['CLD', constants.signals.SIGCHLD],
  [' term ', 15],
])('%j is signal %i', (text, number) => {
  expect(parseSignal(text)).toBe(number);
});

test.each([
  '',
  '0',
  '-9',
  '65',
  '32',
  '999',
  'BOGUS',
  'SIG',
  'SIGSIGTERM',
  'RTMIN+31',
  'RTMIN-1',
  'RTMAX+1',
  'TERM;KILL',
  '9.0',
  '__proto__',
])('%j is no signal', (text) => {
  expect(parseSignal(text)).toBeUndefined();
});

test('every signal has a name that leads back to it', () => {
  const all = Array.from({ length: 64 }, (_, at) => at + 1).filter(
    (number) => parseSignal(String(number)) !== undefined,
  );
  expect(all).toHaveLength(62); // all but two, which the threading library keeps for itself
  expect(all.map((number) => parseSignal(signalName(number)))).toEqual(all);
  expect(signalName(6)).toBe('SIGABRT');
  expect(signalName(36)).toBe('SIGRTMIN+2');
});

test('a status above 128 tells of the signal of that number, if there is one', () => {
  expect([0, 1, 127, 128, 160, 161, 193, 255].map(signalOfStatus)).toEqual(Array.from({ length: 8 }));
  expect([129, 137, 143, 162, 192].map(signalOfStatus)).toEqual([
    'SIGHUP',
    'SIGKILL',
    'SIGTERM',
    'SIGRTMIN',
    'SIGRTMIN+30',
  ]);
});
