// /open PATH --lines A-B: a part of a file that may be too large to be shown whole.

import { readFile } from '../../host/files/read.js';
import { pathToFileURL } from 'node:url';
import { fetchDocument } from '../load/fetch-document.js';
import type { Place } from '../load/resolve-target.js';
import { MAX_DOCUMENT_BYTES } from '../files/load-document.js';
import { type CommandResult, type Failure, fail, succeed } from '../result.js';
import type { CommandCall } from '../command.js';

/** The largest file of which lines can be shown. */
export const MAX_LINES_FILE_BYTES = 64 * 1024 * 1024;

const RANGE = /^L?(\d+)(?:-(?:L?(\d+))?)?$/u;
const FEED = 10;

export async function openLines(
  call: CommandCall,
  place: Extract<Place, { ok: true }>,
  range: string,
): Promise<CommandResult> {
  const found = RANGE.exec(range);
  const first = Number(found?.[1] ?? 0);
  const last = found?.[2] === undefined ? (range.includes('-') ? Infinity : first) : Number(found[2]);
  if (found === null || first < 1 || last < first)
    return fail(
      'INVALID_TARGET',
      `Not a range of lines: ${range}`,
      'Use --lines A-B, --lines A- or --lines A, from 1.',
    );
  const read = await readBytes(call, place);
  if ('ok' in read) return read;
  const { data, uri, shown, manifest } = read;
  if (data.includes(0)) return fail('LOAD_ERROR', `Not a text file: ${shown}`);
  const part = cutLines(data, first, last);
  if (part.bytes === undefined)
    return fail('INVALID_TARGET', `Line ${first} is out of range: ${shown} has ${part.lines} lines`);
  if (part.bytes.length > MAX_DOCUMENT_BYTES)
    return fail('LOAD_ERROR', `Too large to show: ${part.bytes.length} bytes, at most ${MAX_DOCUMENT_BYTES}`);
  const { session } = call;
  const known = session.document?.uri === uri ? session.document.title : null;
  if (session.document?.uri !== uri) {
    session.shortcuts.setPage([]);
    session.facts = undefined;
  }
  session.show({ uri, title: known, block: null, ...(manifest !== undefined && { manifest }) });
  const to = Math.min(last, part.lines);
  return succeed(
    `Opened ${shown} (lines ${first}-${to} of ${part.lines})`,
    part.bytes.toString('utf8').replace(/\r?\n$/u, ''),
  );
}

async function readBytes(
  { runtime, signal }: CommandCall,
  place: Extract<Place, { ok: true }>,
): Promise<{ data: Buffer; uri: string; shown: string; manifest?: string } | Failure> {
  if ('url' in place) {
    const page = await fetchDocument(runtime.pages, place, signal);
    if (!page.ok) return page;
    const { uri, source, manifest } = page;
    return { data: Buffer.from(source), uri, shown: uri, ...(manifest !== undefined && { manifest }) };
  }
  try {
    const { data } = await readFile(runtime.files.roots().files, place.path, {
      maxBytes: MAX_LINES_FILE_BYTES,
      whole: true,
      signal,
    });
    return { data, uri: pathToFileURL(place.path).href, shown: place.path };
  } catch (thrown) {
    return runtime.files.explain(thrown, place.path);
  }
}

/** Lines `first` to `last`, and how many there are; in one pass over the bytes. */
function cutLines(data: Buffer, first: number, last: number): { bytes: Buffer | undefined; lines: number } {
  let lines = 0;
  let from: number | undefined;
  let to = data.length;
  for (let at = 0; at < data.length; ) {
    lines += 1;
    if (lines === first) from = at;
    const feed = data.indexOf(FEED, at);
    at = feed === -1 ? data.length : feed + 1;
    if (lines === last) to = at;
  }
  return { bytes: from === undefined ? undefined : data.subarray(from, to), lines };
}
