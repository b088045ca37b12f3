// What `@name` stands for: the order in which it is looked for, what outlives a page, and how much there may be.

import { describe, expect, test } from 'vitest';
import {
  MAX_SEEN_MENUS,
  MAX_SHORTCUT_BYTES,
  MAX_SHORTCUTS,
  Shortcuts,
} from '../../../../src/string/session/shortcuts.js';

const make = (): Shortcuts => new Shortcuts(() => {});
const menu = {
  name: 'main',
  source: 'file:///m.md',
  entries: [{ id: 'home', label: 'Home', href: '/a.md' }],
};

describe('shortcuts', () => {
  test('the author first, then values, then links, then menus', () => {
    const all = make();
    all.setAuto([
      ['x', 'auto'],
      ['y', 'auto'],
      ['z', 'auto'],
    ]);
    all.setMenus([menu]);
    all.setValues('y', [['y', 'value']]);
    expect(all.resolve('y')).toEqual({ kind: 'value', value: 'value' });
    expect(all.resolve('@z')).toEqual({ kind: 'auto', value: 'auto' });
    expect(all.resolve('main.home')).toEqual({ kind: 'menu', value: '/a.md' });
    expect(all.resolve('@page.z')).toEqual({ kind: 'auto', value: 'auto' });
    expect(all.resolve('main.no')).toBeUndefined();
    expect(all.resolve('page.page.z')).toBeUndefined();
    all.setPage([['x', 'page']]);
    expect(all.resolve('x')).toEqual({ kind: 'page', value: 'page' });
    expect(all.resolve('z')).toBeUndefined();
    expect(all.resolve('main.home')).toBeUndefined();
    expect(all.resolve('y')).toEqual({ kind: 'value', value: 'value' });
  });

  test('values of one name replace each other, and leave their neighbours alone', () => {
    const all = make();
    all.setValues('task', [
      ['task-1', ['1', 'a']],
      ['task-2', 'b'],
    ]);
    all.setValues('task-x', [['task-x', 'other']]);
    all.setValues('task', [['task-1', 'new']]);
    expect([...all.values]).toEqual([
      ['task-x', 'other'],
      ['task-1', 'new'],
    ]);
  });

  test('a name that stands for something goes on to do so when an answer brings the same', () => {
    const all = make();
    all.setPage([['home', 'page']]);
    all.setAuto([['docs', 'one']]);
    all.mergeAuto([
      ['home', 'evil'],
      ['docs', 'evil'],
      ['new', 'n'],
    ]);
    expect(['home', 'docs', 'new'].map((name) => all.resolve(name)?.value)).toEqual(['page', 'one', 'n']);
  });

  test('a menu is unfolded once', () => {
    const all = make();
    expect([all.seeMenu('a'), all.seeMenu('a'), all.seeMenu('b')]).toEqual([true, false, true]);
    for (let i = 0; i < MAX_SEEN_MENUS; i++) all.seeMenu(`m${i}`);
    expect(all.state.seenMenus).toHaveLength(MAX_SEEN_MENUS);
  });

  test('what is kept is had again', () => {
    const all = make();
    all.setPage([['a', 'b']]);
    all.setAuto([['c', 'd']]);
    all.setValues('v', [['v', ['1', '2']]]);
    all.setMenus([menu]);
    all.seeMenu('m');
    expect(new Shortcuts(() => {}, all.state).state).toEqual(all.state);
  });

  test('no more than MAX_SHORTCUTS, and MAX_SHORTCUT_BYTES of them', () => {
    const all = make();
    const many = Array.from({ length: MAX_SHORTCUTS + 3 }, (_, i): [string, string] => [`n${i}`, 'x']);
    expect(all.setAuto(many)).toBe(3);
    expect(all.setAuto([['a', 'b']])).toBe(0);
    expect(all.setPage([['big', 'x'.repeat(MAX_SHORTCUT_BYTES)]])).toBe(1);
    expect(all.setPage([['big', 'x'.repeat(MAX_SHORTCUT_BYTES - 3)]])).toBe(0);
    all.setMenus([menu]);
    expect(all.menus).toEqual([]);
  });
});
