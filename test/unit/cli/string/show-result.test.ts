// What of an answer reaches a terminal.

import { expect, test } from 'vitest';
import type { StringContext } from '../../../../src/cli/string/context.js';
import { showResult } from '../../../../src/cli/string/show-result.js';

async function shown(topic: string, isTTY: boolean, raw = false): Promise<string> {
  let text = '';
  const out = (more: string): Promise<void> => {
    text += more;
    return Promise.resolve();
  };
  const context = { json: false, raw, out, say: () => {} } as unknown as StringContext;
  const result = { ok: true, code: null, content: 'a\u001b]0;x\u0007\n\tb', meta: null, topic };
  await showResult(context, topic, result as unknown as Parameters<typeof showResult>[2], { isTTY });
  return text;
}

test('events do not drive a terminal; pipes, --raw and other topics get every byte', async () => {
  const bytes = 'a\u001b]0;x\u0007\n\tb\n';
  expect(await shown('event', true)).toBe('<𝒞=string:event>\na\\x1b]0;x\\x07\n\tb\n</𝒞>\n');
  expect(await shown('event', false)).toContain(bytes);
  expect(await shown('event', true, true)).toBe(bytes);
  expect(await shown('main', true)).toContain(bytes);
});
