import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildEnvironment, findBadVariable } from '../../../src/guard/child-environment.js';

test('only what is on the list, passed by name or asked for reaches a command', () => {
  const server = {
    PATH: '/bin',
    HOME: '/h',
    LC_ALL: 'C',
    XDG_DATA_HOME: '/d',
    API_TOKEN: 't',
    EXTRA: 'e',
    NONE: undefined,
  };
  expect(buildEnvironment(server, ['EXTRA', 'NONE'], { HOME: '/other', MINE: '' })).toEqual({
    PATH: '/bin',
    HOME: '/other',
    LC_ALL: 'C',
    XDG_DATA_HOME: '/d',
    EXTRA: 'e',
    MINE: '',
  });
});

test('a server without PATH still gives one', () => {
  expect(buildEnvironment({}, [])['PATH']).toContain('/usr/bin');
});

test('nothing of an arbitrary server environment slips through by an odd name', () => {
  const name = fc
    .string({ minLength: 1 })
    .filter((text) => !/^(?:LC_|XDG_)/.test(text) && text !== text.toUpperCase());
  fc.assert(
    fc.property(fc.dictionary(name, fc.string()), (server) => {
      expect(Object.keys(buildEnvironment(server, []))).toEqual(['PATH']);
    }),
  );
});

test('variables that no program can be given are found', () => {
  expect(findBadVariable()).toBeUndefined();
  expect(findBadVariable({ A: '', 'b c': '=', é: '\n' })).toBeUndefined();
  for (const bad of [{ '': 'x' }, { 'A=B': 'x' }, { 'A\0': 'x' }, { A: 'x\0y' }])
    expect(findBadVariable({ OK: '1', ...bad })).toBe(Object.keys(bad)[0]);
});
