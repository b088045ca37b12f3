// fs.read: a file, or a part of it by bytes.

import { isUtf8 } from 'node:buffer';
import { incompleteTail } from '../../base/utf8.js';
import { readFile, type ReadResult, READ_SLICE_BYTES } from '../../host/files/read.js';
import { RawJson } from '../../wire/jsonrpc/encode.js';
import { escapeInto, MAX_ESCAPED_RATIO } from '../../wire/jsonrpc/json-string.js';
import type { ParamsOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fittingTextBytes, MAX_UNASKED_ANSWER_BYTES } from '../fs/answer-size.js';
import { fileCall } from '../fs/file-call.js';
import type { FsRead } from '../protocol/fs.js';

export async function readFromFile(params: ParamsOf<typeof FsRead>, ctx: CallContext): Promise<RawJson> {
  return await fileCall(params.session_id, ctx, async (call) => {
    const max = call.session.limits.get('max_file_read_bytes');
    const length = params.length === undefined || params.length === 0 ? max : params.length;
    const result = await readFile(call.roots, call.resolve(params.path), {
      offset: params.offset,
      length,
      maxBytes: max,
      // What is read at once is over before anybody could call it off.
      ...(Math.min(length, max) > READ_SLICE_BYTES && { signal: call.signal }),
    });
    return answer(result, params);
  });
}

/** Straight from the file's bytes to the line of the answer: no string is made on the way, which doubles the speed. */
function answer(result: ReadResult, params: ParamsOf<typeof FsRead>): RawJson {
  const whole = wholeCharacters(result, params);
  const encoding = params.encoding ?? (isUtf8(whole) ? 'utf8' : 'base64');
  const asked = params.length !== undefined && params.length > 0;
  const bytes = asked ? whole : whole.subarray(0, fittingBytes(whole, encoding));
  const truncated = params.offset + bytes.length < result.size;
  const facts = { path: result.path, size: result.size, mtime: result.mtimeMs, truncated, encoding };
  const head = Buffer.from(`${JSON.stringify(facts).slice(0, -1)},"content":"`);
  if (encoding === 'base64')
    return new RawJson(Buffer.concat([head, Buffer.from(`${bytes.toString('base64')}"}`, 'latin1')]));
  const text = asText(bytes);
  const line = Buffer.allocUnsafe(head.length + text.length * MAX_ESCAPED_RATIO + 2);
  const end = escapeInto(text, line, head.copy(line));
  return new RawJson(Buffer.from(line.subarray(0, end + line.write('"}', end, 'latin1'))));
}

/** Who gave no length gets as much as goes into a line that every client takes, and is told that there is more. */
function fittingBytes(bytes: Buffer, encoding: 'utf8' | 'base64'): number {
  if (encoding === 'base64') return Math.min(bytes.length, (MAX_UNASKED_ANSWER_BYTES / 4) * 3);
  if (bytes.length * MAX_ESCAPED_RATIO <= MAX_UNASKED_ANSWER_BYTES) return bytes.length;
  if (isUtf8(bytes)) return fittingTextBytes(bytes);
  // Asked for as text although it is none: every byte may become a replacement character of three.
  const end = Math.floor(MAX_UNASKED_ANSWER_BYTES / MAX_ESCAPED_RATIO);
  return end - incompleteTail(bytes.subarray(0, end));
}

/** What is no text but was asked for as such: its characters, with U+FFFD for the rest. */
function asText(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}

/**
 * A range of text ends between characters: the next range begins where this one says it ended. Bytes that are no
 * characters at all are given as they are.
 */
function wholeCharacters({ data, truncated }: ReadResult, params: ParamsOf<typeof FsRead>): Buffer {
  if (!truncated || params.encoding === 'base64') return data;
  const tail = incompleteTail(data);
  return tail === data.length ? data : data.subarray(0, data.length - tail);
}
