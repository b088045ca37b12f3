// fs.read: a file, or a part of it by bytes.

import { isUtf8 } from 'node:buffer';
import { incompleteTail } from '../../base/utf8.js';
import { readFile, readInto, type ReadResult, READ_SLICE_BYTES } from '../../host/files/read.js';
import { RawJson } from '../../wire/jsonrpc/encode.js';
import { MAX_ESCAPED_RATIO } from '../../wire/jsonrpc/json-string.js';
import type { ParamsOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fittingTextBytes, MAX_UNASKED_ANSWER_BYTES } from '../fs/answer-size.js';
import { base64Piece, textPiece } from '../fs/content-line.js';
import { fileCall, fileCallAtOnce } from '../fs/file-call.js';
import { type ByteRange, characterRange, MAX_CHARACTER_REST } from '../fs/text-range.js';
import type { FsRead } from '../protocol/fs.js';

export function readFromFile(params: ParamsOf<typeof FsRead>, ctx: CallContext): RawJson | Promise<RawJson> {
  const max = ctx.sessions.get(params.session_id).limits.get('max_file_read_bytes');
  const length = Math.min(lengthAsked(params) ?? max, max);
  const ahead = Math.min(params.offset, MAX_CHARACTER_REST);
  const offset = params.offset - ahead;
  const whole = ahead + length + MAX_CHARACTER_REST;
  const inAnswer = (result: ReadResult, onMade?: () => void): RawJson => {
    const to = Math.min(ahead + length, result.data.length);
    return answer(result, { from: Math.min(ahead, to), to }, { params, max, onMade });
  };
  // What is read at once is over before anybody could call it off, and needs no promise.
  if (length <= READ_SLICE_BYTES) {
    return fileCallAtOnce(params.session_id, ctx, ({ roots, resolve }) => {
      const room = takeRoom(whole);
      return inAnswer(readInto(roots, resolve(params.path), offset, room), () => giveBack(room));
    });
  }
  return fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) =>
    inAnswer(await readFile(roots, resolve(params.path), { offset, length: whole, signal })),
  );
}

/** Used again by every read that has been answered before the next one begins. */
let spare: Buffer | undefined;

function takeRoom(bytes: number): Buffer {
  const room =
    spare !== undefined && spare.length >= bytes
      ? spare
      : Buffer.allocUnsafeSlow(Math.max(bytes, FIRST_ROOM_BYTES));
  spare = undefined;
  return room.subarray(0, bytes);
}

function giveBack({ buffer }: Buffer): void {
  spare = Buffer.from(buffer as ArrayBuffer);
}

const FIRST_ROOM_BYTES = 64 * 1024;

function lengthAsked({ length }: ParamsOf<typeof FsRead>): number | undefined {
  return length === 0 ? undefined : length;
}

interface Asked {
  readonly params: ParamsOf<typeof FsRead>;
  readonly max: number;
  /** Called when the bytes are needed no more. */
  readonly onMade: (() => void) | undefined;
}

function answer(
  { data, size, path, mtimeMs: mtime }: ReadResult,
  range: ByteRange,
  { params, max, onMade }: Asked,
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
  if (bytes.length <= SHORT_BYTES) {
    const short = shortAnswer(head, bytes, encoding);
    onMade?.();
    return short;
  }
  // Straight from the file's bytes to the line of the answer: no string is made of all of it, which takes twice as long.
  const content = { bytes, ...(onMade !== undefined && { onMade }) };
  if (encoding === 'base64') return new RawJson(base64Piece(`${head}"`, content, '"}'));
  const text = isText ? content : { ...content, bytes: Buffer.from(bytes.toString('utf8')) };
  return new RawJson(textPiece(`${head}"`, text, '"}'));
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
