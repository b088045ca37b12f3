import { expect, test } from 'vitest';
import {
  MAX_LINE_BYTES,
  MAX_MESSAGE_CHARS,
  MAX_NAME_CHARS,
  toAuditLine,
} from '../../../src/guard/audit-entry.js';

interface Line {
  readonly method: string;
  readonly client_name: string;
  readonly error: { readonly message: string };
}

test('names and messages are written up to so many characters', () => {
  const line = (name: number, message: number): Line =>
    JSON.parse(
      toAuditLine({
        method: 'é'.repeat(name),
        clientName: 'é'.repeat(name),
        error: { code: 1, message: 'é'.repeat(message) },
      }),
    ) as Line;
  const whole = line(MAX_NAME_CHARS, MAX_MESSAGE_CHARS);
  expect(whole.method).toBe('é'.repeat(MAX_NAME_CHARS));
  expect(whole.client_name).toBe('é'.repeat(MAX_NAME_CHARS));
  expect(whole.error.message).toBe('é'.repeat(MAX_MESSAGE_CHARS));
  const cut = line(10 * MAX_NAME_CHARS, 10 * MAX_MESSAGE_CHARS);
  expect(cut.method.length).toBeLessThan(2 * MAX_NAME_CHARS);
  expect(cut.client_name.length).toBeLessThan(2 * MAX_NAME_CHARS);
  expect(cut.error.message.length).toBeLessThan(2 * MAX_MESSAGE_CHARS);
});

test('a line is whole up to the cap, and one byte beyond it loses its params', () => {
  const wide = Array.from({ length: 21 }, () => '語'.repeat(1000));
  const narrow = (bytes: number): string[] =>
    [0, 1000, 2000].map((from) => 'x'.repeat(Math.max(0, Math.min(bytes - from, 1000))));
  const line = (bytes: number): string =>
    toAuditLine({ method: 'm', timeMs: 0, params: [...wide, ...narrow(bytes)] });
  const room = MAX_LINE_BYTES - Buffer.byteLength(line(0));
  expect(Buffer.byteLength(line(room))).toBe(MAX_LINE_BYTES);
  expect(JSON.parse(line(room + 1))).toMatchObject({ method: 'm', params: '[too long]' });
});
