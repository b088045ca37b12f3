import { expect, test } from 'vitest';
import { MAX_MESSAGE_CHARS, MAX_NAME_CHARS, toAuditLine } from '../../../src/guard/audit-entry.js';

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
