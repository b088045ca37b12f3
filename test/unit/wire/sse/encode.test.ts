// The exact bytes of server-sent events.

import { expect, test } from 'vitest';
import { encodeComment, encodeEvent, SseEncodeError } from '../../../../src/wire/sse/encode.js';

const encode = (event: Parameters<typeof encodeEvent>[0]): string => encodeEvent(event).toString('utf8');

test('an event is its name, then its data, then a blank line', () => {
  expect(encode({ event: 'done', data: '{}' })).toBe('event: done\ndata: {}\n\n');
});

test('every field is written once, data last', () => {
  expect(encode({ event: 'e', id: '7', retry: 0, data: 'x' })).toBe('event: e\nid: 7\nretry: 0\ndata: x\n\n');
});

test('every kind of line break in data starts another data line', () => {
  expect(encode({ data: 'a\nb\rc\r\nd\n' })).toBe('data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n');
  expect(encode({ data: '\n\r' })).toBe('data: \ndata: \ndata: \n\n');
});

test('empty data is still an event, and an empty id is still sent', () => {
  expect(encode({ data: '' })).toBe('data: \n\n');
  expect(encode({ id: '', data: 'x' })).toBe('id: \ndata: x\n\n');
  expect(encode({ event: '', data: 'x' })).toBe('data: x\n\n');
});

test.each(['\n', '\r', '\r\n', '\0'])('a name or id that holds %j is refused', (bad) => {
  expect(() => encode({ event: `a${bad}data: forged`, data: '' })).toThrow(SseEncodeError);
  expect(() => encode({ id: `a${bad}`, data: '' })).toThrow(SseEncodeError);
});

test.each([-1, 1.5, Number.NaN, Infinity])('a retry of %d is refused', (retry) => {
  expect(() => encode({ retry, data: '' })).toThrow(SseEncodeError);
});

test('a comment cannot become an event, whatever it holds', () => {
  expect(encodeComment('keep-alive').toString()).toBe(': keep-alive\n\n');
  expect(encodeComment('a\ndata: b\r\n\rc').toString()).toBe(': a\n: data: b\n: \n: c\n\n');
});
