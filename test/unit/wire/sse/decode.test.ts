// Server-sent events from bytes in any chunking, and what happens past the caps.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeEvents, SseDecoder, type SseDecodeOptions } from '../../../../src/wire/sse/decode.js';
import { encodeComment, encodeEvent, type SseEvent } from '../../../../src/wire/sse/encode.js';
import {
  MAX_SSE_EVENT_BYTES,
  MAX_SSE_LINE_BYTES,
  SseLimitError,
} from '../../../../src/wire/sse/size-meter.js';
import { runs } from '../../../helpers/runs.js';

const name = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\r\n\0]/g, '·'));
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('\n', '\r', '\r\n', ' ', ':', 'data: ', 'é', '😀', '\ufeff', ''))
    .map((parts) => parts.join('')),
);
const event: fc.Arbitrary<SseEvent> = fc.record(
  { event: name.filter((value) => value !== ''), id: name, data: text, retry: fc.nat() },
  { requiredKeys: ['data'] },
);
const cuts = fc.array(
  fc.nat({ max: 9999 }).map((n) => n / 10_000),
  { maxLength: 20 },
);

describe('decoding what was encoded', () => {
  test('gives the same events whatever the chunking', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), cuts, (events, at) => {
        const bytes = Buffer.concat(events.flatMap((one) => [encodeEvent(one), encodeComment(one.data)]));
        expect(decodeAll(split(bytes, at)).events).toEqual(events.map(normal));
      }),
      { numRuns: runs(3000) },
    );
  });

  test('gives the same events one byte at a time', () => {
    const events = [{ event: 'é', id: '€', data: '😀\n\n😀' }, { data: '' }];
    const bytes = Buffer.concat(events.map(encodeEvent));
    expect(decodeAll([...bytes].map((byte) => Buffer.from([byte]))).events).toEqual(events);
  });

  test('gives the same events when lines end in CR or CRLF', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 5 }),
        cuts,
        fc.constantFrom('\r', '\r\n'),
        (events, at, end) => {
          const lf = Buffer.concat(events.map(encodeEvent)).toString('utf8');
          const bytes = Buffer.from(lf.replaceAll('\n', end), 'utf8');
          expect(decodeAll(split(bytes, at)).events).toEqual(events.map(normal));
        },
      ),
      { numRuns: runs(1000) },
    );
  });
});

describe('decoding what others send', () => {
  test('an event is delivered with its blank line, not with the byte after it', () => {
    const decoder = new SseDecoder();
    expect(decoder.push(Buffer.from('data: a\r\r'))).toEqual([{ data: 'a' }]);
    expect(decoder.push(Buffer.from('\ndata: b\n\n'))).toEqual([{ data: 'b' }]);
  });

  test('data without a space, a field without a colon, unknown fields and a byte order mark are understood', () => {
    const sent = '\ufeffdata:a\nwhat: ever\ndata\ndata:  b\n\n';
    expect(decodeAll([Buffer.from(sent)]).events).toEqual([{ data: 'a\n\n b' }]);
  });

  test('an event cut off by the end of the stream is not delivered', () => {
    expect(decodeAll([Buffer.from('data: a\n\ndata: b\n')]).events).toEqual([{ data: 'a' }]);
  });

  test('comments reach the listener and nobody else', () => {
    const comments: string[] = [];
    const { events } = decodeAll([Buffer.from(': one\n:two\ndata: x\n\n')], {
      onComment: (comment) => comments.push(comment),
    });
    expect([comments, events]).toEqual([['one', 'two'], [{ data: 'x' }]]);
  });

  test('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (chunks) => {
        expect(decodeAll(chunks).failure).toBeUndefined();
      }),
      { numRuns: runs(3000) },
    );
  });
});

describe('caps', () => {
  test('a line one byte past its cap ends the stream; at the cap it passes', () => {
    const limits = { maxLineBytes: 10 };
    expect(decodeAll([Buffer.from('data: 1234\n\n')], limits)).toEqual({
      events: [{ data: '1234' }],
      failure: undefined,
    });
    const { events, failure } = decodeAll([Buffer.from('data: a\n\ndata: 12345')], limits);
    expect(events).toEqual([{ data: 'a' }]);
    expect(failure).toMatchObject({
      name: 'SseLimitError',
      code: 'sse_line_too_large',
      facts: { limit: 10 },
    });
  });

  test('an event one byte past its cap ends the stream; at the cap it passes', () => {
    const limits = { maxEventBytes: 14 };
    expect(decodeAll([Buffer.from('data: a\ndata: b\n\n'.repeat(3))], limits).events).toHaveLength(3);
    expect(decodeAll([Buffer.from('data: a\ndata: bc\n\n')], limits)).toMatchObject({
      events: [],
      failure: { code: 'sse_event_too_large' },
    });
  });

  test('comments may go on for ever without an event, but not one comment', () => {
    const limits = { maxLineBytes: 8, maxEventBytes: 8 };
    expect(decodeAll([Buffer.from(`${': ping\n'.repeat(100)}data: x\n\n`)], limits).events).toEqual([
      { data: 'x' },
    ]);
    expect(decodeAll([Buffer.from(': far too long')], limits).failure?.code).toBe('sse_line_too_large');
  });

  test('events before the cap and the failure itself do not depend on the chunking', () => {
    const limits = { maxLineBytes: 24, maxEventBytes: 40 };
    const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), cuts, lineEnd, (events, at, end) => {
        const lf = Buffer.concat(events.map(encodeEvent)).toString('utf8');
        const bytes = Buffer.from(lf.replaceAll('\n', end), 'utf8');
        expect(decodeAll(split(bytes, at), limits)).toEqual(decodeAll([Buffer.from(lf, 'utf8')], limits));
      }),
      { numRuns: runs(3000) },
    );
  });

  test('the usual caps are reached by what just fits and passed by one byte more', () => {
    const line = (bytes: number): Buffer =>
      Buffer.concat([Buffer.from('data:'), Buffer.alloc(bytes - 5, 'x'), Buffer.from('\n')]);
    const most = [
      line(MAX_SSE_LINE_BYTES),
      line(MAX_SSE_EVENT_BYTES - MAX_SSE_LINE_BYTES),
      Buffer.from('\n'),
    ];
    expect(decodeAll(most).events).toHaveLength(1);
    expect(decodeAll([line(MAX_SSE_LINE_BYTES + 1)]).failure?.code).toBe('sse_line_too_large');
    expect(decodeAll([...most.slice(0, 2), Buffer.from('d')]).failure?.code).toBe('sse_event_too_large');
  });

  test('after a failure no more bytes are taken', () => {
    const decoder = new SseDecoder({ maxLineBytes: 4 });
    decoder.push(Buffer.from('data: too long'));
    expect(decoder.push(Buffer.from('\n\ndata\n\n'))).toEqual([]);
  });
});

describe('decodeEvents', () => {
  test('yields events as they arrive and ends its source when the reader leaves', async () => {
    let ended = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (let i = 0; ; i++) yield encodeEvent({ data: String(i) });
      } finally {
        ended = true;
      }
    }
    const seen: string[] = [];
    for await (const { data } of decodeEvents(source())) {
      seen.push(data);
      if (data === '3') break;
    }
    expect([seen, ended]).toEqual([['0', '1', '2', '3'], true]);
  });

  test('delivers what came before a cap was passed, then throws', async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('data: a\n\ndata: much too long\n\ndata: b\n\n');
    }
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const { data } of decodeEvents(source(), { maxLineBytes: 10 })) seen.push(data);
    };
    await expect(read()).rejects.toThrow(SseLimitError);
    expect(seen).toEqual(['a']);
  });

  test('a stray CR at the end of many short lines costs no more than its bytes', () => {
    const started = performance.now();
    decodeAll([Buffer.from(`${'data\n'.repeat(400_000)}\r`)]);
    expect(performance.now() - started).toBeLessThan(60_000);
  });
});

function normal(event: SseEvent): SseEvent {
  return { ...event, data: event.data.replaceAll(/\r\n?/g, '\n') };
}

function split(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const marks = [0, ...at.map((part) => Math.floor(part * bytes.length)).sort((a, b) => a - b), bytes.length];
  return marks.slice(1).map((end, i) => bytes.subarray(marks[i], end));
}

function decodeAll(
  chunks: readonly Uint8Array[],
  options: SseDecodeOptions = {},
): { events: SseEvent[]; failure: (Error & { code?: string }) | undefined } {
  const decoder = new SseDecoder(options);
  const events = chunks.flatMap((chunk) => decoder.push(chunk));
  return { events, failure: decoder.failure };
}
