// Whatever else comes over the wire, every valid request gets exactly its own answer.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RpcError } from '../../../../src/base/errors.js';
import { runs } from '../../../helpers/runs.js';
import { wirePeer } from './wire-side.js';

/** A request whose answer is known: how it is handled, in what form its id is written, and how the line is laid out. */
interface Valid {
  readonly kind: 'valid';
  readonly how: 'sync' | 'async' | 'slow' | 'fail';
  readonly params: Record<string, unknown> | unknown[] | undefined;
  readonly idForm: 'number' | 'fraction' | 'string' | 'escaped';
  readonly layout: 'id first' | 'id last' | 'spaced';
}
type Item =
  | Valid
  | { readonly kind: 'garbage'; readonly text: string }
  | { readonly kind: 'batch'; readonly members: Valid[] };

const valid: fc.Arbitrary<Valid> = fc.record({
  kind: fc.constant('valid' as const),
  how: fc.constantFrom('sync', 'async', 'slow', 'fail'),
  params: fc.option(
    fc.oneof(
      fc.dictionary(fc.constantFrom('id', 'a', 'method', '"', '\\'), fc.jsonValue({ maxDepth: 1 }), {
        maxKeys: 3,
      }),
      fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
    ),
    { nil: undefined },
  ),
  idForm: fc.constantFrom('number', 'fraction', 'string', 'escaped'),
  layout: fc.constantFrom('id first', 'id last', 'spaced'),
});

/** Messages with a wound: cut short, a character changed, a field of the wrong kind. Their ids are never ours. */
const wounded = fc
  .tuple(
    fc.constantFrom(
      '{"jsonrpc":"2.0","id":"g","method":"sync","params":{"a":[1,{"id":2}]}}',
      '{"jsonrpc":"2.0","method":"note","params":["x"]}',
      '{"jsonrpc":"2.0","id":"g","result":{"id":1}}',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}',
      '[{"jsonrpc":"2.0","id":"g","method":"async"},{"jsonrpc":"2.0","method":"note"},7]',
      '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"g"}}',
    ),
    fc.nat(80),
    fc.constantFrom('', '"', '{', ']', '\\', ',', 'x', '0', '\u0000', '\ud800', 'null'),
    fc.boolean(),
  )
  .map(([text, at, put, cut]) => text.slice(0, at) + put + (cut ? '' : text.slice(at + 1)));
const garbage = fc.oneof(
  wounded,
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', ' ', '\r', '[]', '[[]]', '{}', 'null', '0', '""'),
);
const item: fc.Arbitrary<Item> = fc.oneof(
  { weight: 4, arbitrary: valid },
  {
    weight: 3,
    arbitrary: garbage.map((text) => ({ kind: 'garbage' as const, text: text.replaceAll('\n', ' ') })),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(valid, { minLength: 1, maxLength: 3 })
      .map((members) => ({ kind: 'batch' as const, members })),
  },
);

const RUNS_TIMEOUT_MS = 120_000;

test('valid requests among garbage, cut anywhere, get each its own answer once (10,000 runs)', {
  timeout: RUNS_TIMEOUT_MS,
}, async () => {
  await using served = wirePeer({
    maxConcurrent: 3,
    highWaterBytes: 2048,
    lowWaterBytes: 256,
    maxWaitingBytes: 2048,
    onRequest: (call) => {
      if (call.method === 'fail') throw new RpcError(-32001, 'failed', { data: call.params });
      if (call.method === 'async') return Promise.resolve(call.params);
      if (call.method === 'slow') return new Promise((resolve) => setImmediate(resolve, call.params));
      return call.params;
    },
    onNotification: () => {},
  });
  const { wire } = served;
  let serial = 1_000_000; // no wound makes such an id
  const given = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { maxLength: 5 }),
      fc.array(fc.nat(400), { maxLength: 4 }),
      async (items, cuts) => {
        const expected = new Map<string, string>();
        const write = (request: Valid): string => {
          serial += 1;
          const id = idText(request.idForm, serial);
          given.add(id);
          expected.set(id, answerText(id, request));
          return requestText(id, request);
        };
        const lines = items.map((entry) => {
          if (entry.kind === 'garbage') return entry.text;
          return entry.kind === 'batch' ? `[${entry.members.map(write).join(' , ')}]` : write(entry);
        });
        const last = write({
          kind: 'valid',
          how: 'sync',
          params: undefined,
          idForm: 'number',
          layout: 'id first',
        });
        send(Buffer.from(`${[...lines, last].join('\n')}\n`), cuts);
        await settle(wire.lines, expected);
      },
    ),
    { numRuns: runs(10_000) },
  );

  function send(bytes: Buffer, cuts: readonly number[]): void {
    let from = 0;
    for (const cut of cuts) {
      wire.link.output.write(bytes.subarray(from, from + cut));
      from += cut;
    }
    if (from < bytes.length) wire.link.output.write(bytes.subarray(from));
  }

  /** Takes lines until every expected answer has come; a second one, or one changed, fails. */
  async function settle(lines: string[], expected: Map<string, string>): Promise<void> {
    for (let tries = 0; expected.size > 0; tries++) {
      for (const line of lines.splice(0)) {
        const members = line.startsWith('[')
          ? line.slice(1, -1).split(/,(?=\{"jsonrpc":"2\.0","id":)/)
          : [line];
        for (const member of members) {
          const id = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|[^,]*),/.exec(member)?.[1] ?? '';
          if (!given.has(id)) continue; // an answer to garbage
          expect(member).toBe(expected.get(id));
          expected.delete(id);
        }
      }
      if (tries > 10_000) throw new Error(`no answer to ${[...expected.keys()].join(' ')}`);
      if (expected.size > 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
});

function idText(form: Valid['idForm'], serial: number): string {
  const forms = { number: '#', fraction: '#.0', string: '"v#"', escaped: '"\\u0076-#"' };
  return forms[form].replace('#', String(serial));
}

function requestText(id: string, { how, params, layout }: Valid): string {
  const body = params === undefined ? '' : `,"params":${JSON.stringify(params)}`;
  if (layout === 'id first') return `{"jsonrpc":"2.0","id":${id},"method":"${how}"${body}}`;
  if (layout === 'id last') return `{"jsonrpc":"2.0","method":"${how}"${body},"id":${id}}`;
  return ` { "extra" : {"id":0} , "id":true , "method" : "${how}"${body} ,\t"\\u0069d" : ${id} , "jsonrpc" : "2.0" }\r`;
}

function answerText(id: string, { how, params }: Valid): string {
  const json = JSON.stringify(params);
  if (how !== 'fail') return `{"jsonrpc":"2.0","id":${id},"result":${json ?? 'null'}}`;
  const data = json === undefined ? '' : `,"data":${json}`;
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32001,"message":"failed"${data}}}`;
}
