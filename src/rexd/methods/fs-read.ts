// fs.read: a file, or a part of it by bytes.

import { isUtf8 } from 'node:buffer';
import { incompleteTail } from '../../base/utf8.js';
import { readFile, readInto, type ReadResult, READ_SLICE_BYTES } from '../../host/files/read.js';
import { RawJson } from '../../wire/jsonrpc/encode.js';
import { MAX_ESCAPED_RATIO } from '../../wire/jsonrpc/json-string.js';
import type { ParamsOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fittingTextBytes, MAX_UNASKED_ANSWER_BYTES } from '../fs/answer-size.js';
import { base64Line, textLine } from '../fs/content-line.js';
import { fileCall, fileCallAtOnce } from '../fs/file-call.js';
import { type ByteRange, characterRange, MAX_CHARACTER_REST } from '../fs/text-range.js';
import type { FsRead } from '../protocol/fs.js';

export function readFromFile(params: ParamsOf<typeof FsRead>, ctx: CallContext): RawJson | Promise<RawJson> {
  const max = ctx.sessions.get(params.session_id).limits.get('max_file_read_bytes');
  const length = Math.min(lengthAsked(params) ?? max, max);
  const ahead = Math.min(params.offset, MAX_CHARACTER_REST);
  const offset = params.offset - ahead;
  const whole = ahead + length + MAX_CHARACTER_REST;
  const inAnswer = (result: ReadResult): RawJson => {
    const to = Math.min(ahead + length, result.data.length);
    return answer(result, { from: Math.min(ahead, to), to }, params, max);
  };
  // What is read at once is over before anybody could call it off, and needs no promise.
  if (length <= READ_SLICE_BYTES) {
    return fileCallAtOnce(params.session_id, ctx, ({ roots, resolve }) =>
      inAnswer(readInto(roots, resolve(params.path), offset, roomFor(whole))),
    );
  }
  return fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) =>
    inAnswer(await readFile(roots, resolve(params.path), { offset, length: whole, signal })),
  );
}

let room = Buffer.alloc(0);

/** Used again by every read that is answered before the next one begins. */
function roomFor(bytes: number): Buffer {
  if (room.length < bytes) room = Buffer.allocUnsafeSlow(Math.max(bytes, FIRST_ROOM_BYTES));
  return room.subarray(0, bytes);
}

const FIRST_ROOM_BYTES = 64 * 1024;

function lengthAsked({ length }: ParamsOf<typeof FsRead>): number | undefined {
  return length === 0 ? undefined : length;
}

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
  const whole = from === 0 && to === data.length ? data : data.subarray(from, to);
  const isText = params.encoding !== 'base64' && isUtf8(whole);
  const encoding = params.encoding ?? (isText ? 'utf8' : 'base64');
  const bytes = length === undefined ? whole.subarray(0, fittingBytes(whole, isText, params)) : whole;
  const offset = params.offset + from - range.from;
  const facts = JSON.stringify({
    path,
    size,
    mtime,
    truncated: offset + bytes.length < size,
    encoding,
    offset: offset === params.offset ? undefined : offset,
  });
  const head = `${facts.slice(0, -1)},"content":`;
  if (bytes.length <= SHORT_BYTES) return shortAnswer(head, bytes, encoding);
  // Straight from the file's bytes to the line of the answer: no string is made of all of it, which takes twice as long.
  if (encoding === 'base64') return new RawJson(base64Line(`${head}"`, bytes, '"}'));
  return new RawJson(textLine(`${head}"`, isText ? bytes : Buffer.from(bytes.toString('utf8')), '"}'));
}

/** Up to here a string costs less than what it takes to do without. */
const SHORT_BYTES = 4096;

/** As bytes if they are more than its characters: what an answer counts for is its length. */
function shortAnswer(head: string, bytes: Buffer, encoding: 'utf8' | 'base64'): RawJson {
  const content = bytes.toString(encoding);
  const json = `${head}${encoding === 'base64' ? `"${content}"` : JSON.stringify(content)}}`;
  const isPlain = encoding === 'base64' || content.length === bytes.length;
  return new RawJson(isPlain && Buffer.byteLength(head) === head.length ? json : Buffer.from(json));
}

/** Who gave no length gets as much as goes into a line that every client takes, and is told that there is more. */
function fittingBytes(bytes: Buffer, isText: boolean, { encoding: asked }: ParamsOf<typeof FsRead>): number {
  if (!isText && asked !== 'utf8') {
    const to = Math.min(bytes.length, (MAX_UNASKED_ANSWER_BYTES / 4) * 3);
    return asked === undefined ? characterRange(bytes, { from: 0, to }, false).to : to;
  }
  if (bytes.length * MAX_ESCAPED_RATIO <= MAX_UNASKED_ANSWER_BYTES) return bytes.length;
  if (isText) return fittingTextBytes(bytes);
  // Asked for as text although it is none: every byte may become a replacement character of three.
  const end = Math.floor(MAX_UNASKED_ANSWER_BYTES / MAX_ESCAPED_RATIO);
  return end - incompleteTail(bytes.subarray(0, end));
}
