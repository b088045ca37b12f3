// Which lines of an audit log are shown.

import { expect, test } from 'vitest';
import { matches, parseAuditLine } from '../../../../src/cli/rex/audit-line.js';

const ALL = { method: undefined, sessionId: undefined, sinceMs: undefined, failed: false };
const line = { timestamp: '2026-01-01T00:00:00.000Z', method: 'fs.read', session_id: 's_1' };

test('what is no entry is passed over', () => {
  expect(['', 'x', '[]', 'null', '{"method":"a"}'].map(parseAuditLine)).toEqual(Array(5).fill(undefined));
  expect(parseAuditLine(JSON.stringify(line))).toEqual(line);
});

test('by method or family, session, time and outcome', () => {
  expect(matches(line, ALL)).toBe(true);
  expect([matches(line, { ...ALL, method: 'fs.*' }), matches(line, { ...ALL, method: 'fs' })]).toEqual([
    true,
    false,
  ]);
  expect(matches(line, { ...ALL, sessionId: 's_2' })).toBe(false);
  expect(matches(line, { ...ALL, sinceMs: Date.parse('2026-01-02') })).toBe(false);
  expect(matches(line, { ...ALL, failed: true })).toBe(false);
  expect(matches({ ...line, error: { code: -32002, message: 'no' } }, { ...ALL, failed: true })).toBe(true);
  expect(matches({ ...line, exit_code: 1 }, { ...ALL, failed: true })).toBe(true);
  expect(matches({ ...line, exit_code: 0 }, { ...ALL, failed: true })).toBe(false);
});
