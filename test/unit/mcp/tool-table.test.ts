// A table of tools: calls, and what becomes of those that fail.

import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { RpcError } from '../../../src/base/errors.js';
import { bindTool, failedResult, textOf, textResult } from '../../../src/mcp/tool.js';
import { ToolError, ToolTable } from '../../../src/mcp/tool-table.js';

const input = z.object({ text: z.optional(z.string()) });
const tool = (name: string, call: Parameters<typeof bindTool<typeof input>>[1]) =>
  bindTool({ name, description: '', input }, call);

const quiet = () => ({ signal: new AbortController().signal, progress: () => {}, log: () => {} });

const table = new ToolTable([
  tool('say', async ({ text = '' }) => textResult(text, { text })),
  tool('refuse', async () => {
    throw new ToolError('no', { advice: 'Ask again.', facts: { code: 7 } });
  }),
  tool('remote', async () => {
    throw new RpcError(-32002, 'Path is outside allowed roots');
  }),
  tool('break', async () => {
    throw new TypeError('oops');
  }),
]);

test('a tool gets its arguments and gives its result', async () => {
  expect(await table.call('say', { text: 'hi' }, quiet())).toEqual(textResult('hi', { text: 'hi' }));
});

test('what is thrown becomes a result that says what to do, in words and in facts', async () => {
  expect(await table.call('refuse', {}, quiet())).toEqual(failedResult('no', 'Ask again.', { code: 7 }));
  expect(textOf(await table.call('remote', {}, quiet()))).toBe('remote: Path is outside allowed roots');
  expect(await table.call('break', {}, quiet())).toMatchObject({ isError: true });
});

test('arguments that cannot be read are answered before the tool is called', async () => {
  const result = await table.call('say', { text: {} }, quiet());
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('say: text: expected string, got object');
});

test('an argument that has no effect is mentioned', async () => {
  expect(textOf(await table.call('say', { text: 'hi', loud: true }, quiet()))).toBe(
    'hi\n[there is no argument "loud": it had no effect]',
  );
});

test('a name that is none is rejected, with the one that was probably meant', async () => {
  await expect(table.call('sya', {}, quiet())).rejects.toThrow('no tool "sya"; did you mean say?');
  await expect(table.call('constructor', {}, quiet())).rejects.toThrow('there are: say, refuse');
});

test('a call that is called off has no result', async () => {
  const abort = new AbortController();
  abort.abort(new Error('called off'));
  await expect(table.call('break', {}, { ...quiet(), signal: abort.signal })).rejects.toThrow('called off');
});

test('two tools of one name are a mistake', () => {
  const same = tool('same', async () => textResult(''));
  expect(() => new ToolTable([same, same])).toThrow('same name');
});
