import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { decodeLine } from '../../../../src/wire/jsonrpc/decode.js';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, tooMuchJson } from '../../../../src/wire/jsonrpc/json-size.js';
import { MAX_LINE_BYTES } from '../../../../src/wire/ndjson/line-splitter.js';
import { runs } from '../../../helpers/runs.js';
import { linkedPeers, wirePeer } from './wire-side.js';

const nest = (depth: number, inside = ''): string => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;
const request = (params: string): string => `{"jsonrpc":"2.0","id":1.50,"method":"m","params":${params}}`;

test('a message is taken up to the greatest depth, and one level deeper it is refused under its own id', () => {
  // The object of the message is the first level.
  expect(decodeLine(request(nest(MAX_JSON_DEPTH - 1)), 10)).toMatchObject({ kind: 'request', rawId: '1.50' });
  expect(decodeLine(request(nest(MAX_JSON_DEPTH)), 10)).toEqual({
    kind: 'bad-request',
    rawId: '1.50',
    reason: `a message must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
  });
});

test('a message is taken up to the greatest number of values, and with one more it is refused', () => {
  const values = (count: number): string => `[${'1,'.repeat(count - 1)}1]`;
  const spent = 5; // the message, its params and the commas between its members
  expect(decodeLine(request(values(MAX_JSON_VALUES - spent + 1)), 10).kind).toBe('request');
  expect(decodeLine(request(values(MAX_JSON_VALUES - spent + 2)), 10)).toMatchObject({
    kind: 'bad-request',
    rawId: '1.50',
  });
});

test('brackets and commas inside strings count for nothing', () => {
  const text = JSON.stringify(`\\"${'[{,'.repeat(MAX_JSON_VALUES)}\\`);
  expect(tooMuchJson(`[${text},${text}]`)).toBeUndefined();
});

test('what is too deep and no request is told so without an id, and an answer ends the wait for it', () => {
  const deep = nest(MAX_JSON_DEPTH + 1);
  expect(decodeLine(deep, 10)).toMatchObject({ kind: 'bad-request', rawId: 'null' });
  expect(decodeLine(`{"id":{},"method":"m","p":${deep}}`, 10)).toMatchObject({ rawId: 'null' });
  expect(decodeLine(`{"\\x":1,"id":7,"p":${deep}}`, 10)).toMatchObject({
    kind: 'bad-request',
    rawId: 'null',
  });
  expect(decodeLine(`{"jsonrpc":"2.0","id":7,"result":${deep}}`, 10)).toEqual({
    kind: 'bad-response',
    body: { id: 7 },
  });
});

test('a line of nothing but brackets, as long as a line may be, is answered at once', async () => {
  await using side = wirePeer({ onRequest: () => 'served' });
  using parse = vi.spyOn(JSON, 'parse');
  expect(await side.wire.ask('['.repeat(MAX_LINE_BYTES))).toMatchObject({
    id: null,
    error: { code: -32600 },
  });
  expect(await side.wire.ask(nest(MAX_LINE_BYTES / 2))).toMatchObject({ id: null, error: { code: -32600 } });
  // Parsing the second one alone takes more than a second: neither gets so far.
  expect(parse.mock.calls.filter(([text]) => text.length > 1000)).toEqual([]);
  expect(await side.wire.ask({ jsonrpc: '2.0', id: 1, method: 'm' })).toMatchObject({ result: 'served' });
});

test('a request whose answer is too deep is not waited for for ever', async () => {
  let deep: unknown = 1;
  for (let i = 0; i <= MAX_JSON_DEPTH; i++) deep = [deep];
  await using peers = linkedPeers({}, { onRequest: () => deep });
  await expect(peers.left.request('m')).rejects.toMatchObject({ code: 'bad_response' });
});

test('depth and number are what a parser finds them to be, however the text is spelt', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 4 }), (text, indent) => {
      const value: unknown = [JSON.parse(text)];
      const spelt = JSON.stringify(value, undefined, indent);
      const depth = depthOf(value);
      const values = valuesOf(value);
      expect(tooMuchJson(spelt, depth, values)).toBeUndefined();
      expect(tooMuchJson(spelt, depth - 1, values)).toContain('deeper');
      expect(tooMuchJson(spelt, depth, values - 1)).toContain('values');
    }),
    { numRuns: runs(2000) },
  );
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** As they are counted: one for each bracket that opens, one for each comma. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  return 1 + Math.max(0, inside.length - 1) + inside.reduce((sum: number, each) => sum + valuesOf(each), 0);
}
