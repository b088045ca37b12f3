// What of an answer reaches a terminal.

import { expect, test } from 'vitest';
import type { StringContext } from '../../../../src/cli/string/context.js';
import { showResult } from '../../../../src/cli/string/show-result.js';

const CONTENT = 'a\u001b]0;x\u0007\u009b\r\n\tb';

async function shown(topic: string, isTTY: boolean, raw = false, json = false): Promise<string> {
  let text = '';
  const out = (more: string): Promise<void> => {
    text += more;
    return Promise.resolve();
  };
  const context = { json, raw, out, say: () => {} } as unknown as StringContext;
  const result = { ok: true, code: null, content: CONTENT, meta: null, topic };
  await showResult(context, topic, result as unknown as Parameters<typeof showResult>[2], { isTTY });
  return text;
}

test.each(['event', 'main', 'bash:dev', 'app:mail'])('nothing in %s drives a terminal', async (topic) => {
  expect(await shown(topic, true)).toBe(`<𝒞=string:${topic}>\na\\x1b]0;x\\x07\\x9b\n\tb\n</𝒞>\n`);
  const json = await shown(topic, true, false, true);
  expect([/\p{Cc}/u.test(json.trimEnd()), JSON.parse(json)]).toEqual([
    false,
    { ok: true, topic, content: CONTENT },
  ]);
});

test('pipes and --raw get every byte', async () => {
  expect(await shown('event', false)).toContain(`${CONTENT}\n`);
  expect(await shown('event', true, true)).toBe(`${CONTENT}\n`);
});

test('a folder is advised only where one is missing', async () => {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const context = { json: false, raw: false, out: () => Promise.resolve(), say } as unknown as StringContext;
  for (const content of [
    'ERROR(FILE_NOT_ALLOWED): Remote SFMD …',
    'ERROR(FILE_NOT_ALLOWED): x\nallowed: /home',
  ]) {
    const result = { ok: false, code: 'FILE_NOT_ALLOWED', content, meta: null, topic: 'main' };
    await showResult(context, 'main', result as unknown as Parameters<typeof showResult>[2], {
      isTTY: false,
    });
  }
  expect(said).toEqual([expect.stringContaining('--allow')]);
});
