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
import { type ByteRange, characterRange, MAX_CHARACTER_REST } from '../fs/text-range.js';
import type { FsRead } from '../protocol/fs.js';

export async function readFromFile(params: ParamsOf<typeof FsRead>, ctx: CallContext): Promise<RawJson> {
  return await fileCall(params.session_id, ctx, async (call) => {
    const max = call.session.limits.get('max_file_read_bytes');
    const length = Math.min(lengthAsked(params) ?? max, max);
    const ahead = Math.min(params.offset, MAX_CHARACTER_REST);
    const result = await readFile(call.roots, call.resolve(params.path), {
      offset: params.offset - ahead,
      length: ahead + length + MAX_CHARACTER_REST,
      // What is read at once is over before anybody could call it off.
      ...(length > READ_SLICE_BYTES && { signal: call.signal }),
    });
    const to = Math.min(ahead + length, result.data.length);
    return answer(result, { from: Math.min(ahead, to), to }, params, max);
  });
}

function lengthAsked({ length }: ParamsOf<typeof FsRead>): number | undefined {
  return length === 0 ? undefined : length;
}

/** Straight from the file's bytes to the line of the answer: no string is made on the way, which doubles the speed. */
function answer(
  { data, size, path, mtimeMs: mtime }: ReadResult,
  range: ByteRange,
  params: ParamsOf<typeof FsRead>,
  max: number,
): RawJson {
  const length = lengthAsked(params);
  // Without an encoding too, whatever it then turns out to be: the next range must begin where this one ends.
  const mayGrow = length !== undefined && length <= max;
  const { from, to } = params.encoding === 'base64' ? range : characterRange(data, range, mayGrow);
  const whole = data.subarray(from, to);
  const encoding = params.encoding ?? (isUtf8(whole) ? 'utf8' : 'base64');
  const bytes = length === undefined ? whole.subarray(0, fittingBytes(whole, encoding, params)) : whole;
  const offset = params.offset + from - range.from;
  const facts = {
    path,
    size,
    mtime,
    truncated: offset + bytes.length < size,
    encoding,
    ...(offset !== params.offset && { offset }),
  };
  const head = Buffer.from(`${JSON.stringify(facts).slice(0, -1)},"content":"`);
  if (encoding === 'base64')
    return new RawJson(Buffer.concat([head, Buffer.from(`${bytes.toString('base64')}"}`, 'latin1')]));
  const shown = asText(bytes);
  const room = head.length + shown.length * MAX_ESCAPED_RATIO + 2;
  const line = room <= scratch.length ? scratch : Buffer.allocUnsafe(room);
  const end = escapeInto(shown, line, head.copy(line));
  return new RawJson(Buffer.from(line.subarray(0, end + line.write('"}', end, 'latin1'))));
}

/** For short answers, which are copied out of it: room for the worst case is six times what they take in the end. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Who gave no length gets as much as goes into a line that every client takes, and is told that there is more. */
function fittingBytes(
  bytes: Buffer,
  encoding: 'utf8' | 'base64',
  { encoding: asked }: ParamsOf<typeof FsRead>,
): number {
  if (encoding === 'base64') {
    const to = Math.min(bytes.length, (MAX_UNASKED_ANSWER_BYTES / 4) * 3);
    return asked === undefined ? characterRange(bytes, { from: 0, to }, false).to : to;
  }
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
