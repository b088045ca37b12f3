// read: lines of a file with their numbers, an image, or an output that was too long to be shown.

import type * as z from 'zod/mini';
import { type ToolContext, type ToolResult, textResult } from '../../../mcp/tool.js';
import { ToolError } from '../../../mcp/tool-table.js';
import { MAX_READ_LINES, type Read } from './definitions.js';
import { resolvePath, type ToolHost } from './host.js';
import { imageTypeOf, looksBinary } from './file-kind.js';
import type { KeptOutputs } from './kept-outputs.js';
import { LineCounter, LineWindow } from './line-window.js';

/** How far into a file lines are looked for; further on, `sed -n` on the target is quicker than fetching it all. */
export const MAX_SCAN_BYTES = 64 * 1024 * 1024;
/** Of an image, given whole or not at all. */
export const MAX_IMAGE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

type Args = z.output<typeof Read.input>;

/** A text by offset. */
interface TextSource {
  readonly name: string;
  readonly read: (offset: number) => Promise<{ readonly bytes: Buffer; readonly size: number }>;
}

export async function readText(
  args: Args,
  ctx: ToolContext,
  host: ToolHost,
  outputs: KeptOutputs,
): Promise<ToolResult> {
  const kept = outputs.find(args.path);
  if (kept === 'gone')
    throw new ToolError(`${args.path} is not kept any more`, { advice: 'Run the command again.' });
  const source = kept === undefined ? fileSource(args.path, ctx, host) : keptSource(args.path, kept);
  const first = await source.read(0);
  const image = kept === undefined ? imageTypeOf(first.bytes) : undefined;
  if (image !== undefined) return await readImage(source, first, image);
  if (kept === undefined && looksBinary(first.bytes))
    throw new ToolError(`${args.path} is a binary file of ${first.size} bytes`, {
      advice: 'Look at it with bash: file, xxd, strings.',
    });
  const range = await rangeOf(args, source, first);
  return show(args, await scan(source, first, range), range, first.size);
}

interface Range {
  readonly first: number;
  readonly last: number;
}

async function rangeOf(
  { start_line: start = 1, end_line: end }: Args,
  source: TextSource,
  first: Chunk,
): Promise<Range> {
  const from = start < 0 ? Math.max(1, (await countLines(source, first)) + start + 1) : Math.max(1, start);
  if (end !== undefined && end < from)
    throw new ToolError(`end_line ${end} is before line ${from}`, {
      advice: 'Mend the range and call again.',
    });
  return { first: from, last: Math.min(end ?? Number.POSITIVE_INFINITY, from + MAX_READ_LINES - 1) };
}

type Chunk = Awaited<ReturnType<TextSource['read']>>;

interface Scanned {
  readonly window: LineWindow;
  /** The end of the text was seen. */
  readonly atEnd: boolean;
}

async function scan(source: TextSource, first: Chunk, { first: from, last }: Range): Promise<Scanned> {
  const window = new LineWindow(from, last);
  const whole = await eachChunk(source, first, (bytes) => {
    window.push(bytes);
    return !window.done;
  });
  if (whole) window.end();
  return { window, atEnd: whole && !window.done };
}

async function countLines(source: TextSource, first: Chunk): Promise<number> {
  const counter = new LineCounter();
  await eachChunk(source, first, (bytes) => {
    counter.push(bytes);
    return true;
  });
  return counter.lines;
}

/** Whether the end was reached before `visit` had enough. */
async function eachChunk(
  source: TextSource,
  first: Chunk,
  visit: (bytes: Buffer) => boolean,
): Promise<boolean> {
  let offset = 0;
  for (let chunk = first; chunk.bytes.length > 0; chunk = await source.read(offset)) {
    if (!visit(chunk.bytes)) return offset + chunk.bytes.length >= chunk.size;
    offset += chunk.bytes.length;
    if (offset >= chunk.size) return true;
    if (offset >= MAX_SCAN_BYTES)
      throw new ToolError(
        `${source.name} has ${chunk.size} bytes: lines are looked for in the first ${MAX_SCAN_BYTES}`,
        {
          advice: `Use bash: sed -n '1000000,1000100p', tail or grep.`,
        },
      );
  }
  return true;
}

function show(args: Args, { window, atEnd }: Scanned, range: Range, size: number): ToolResult {
  const { lines } = window;
  const total = atEnd ? window.seenLines : undefined;
  const facts = { path: args.path, size, ...(total !== undefined && { total_lines: total }) };
  if (lines.length === 0) {
    if (size === 0) return textResult('(the file is empty)', { ...facts, content: '' });
    throw new ToolError(`${args.path} has ${total ?? 'fewer'} lines; line ${range.first} is not there`, {
      advice: 'Ask for lines that are there.',
    });
  }
  const shown = lines.map(({ number, bytes, cut }) => {
    const rest = cut === 0 ? '' : ` [… ${cut} more bytes in this line]`;
    return { number, text: `${bytes.toString('utf8')}${rest}` };
  });
  const end = shown.at(-1)?.number ?? range.first;
  const complete = atEnd || (args.end_line !== undefined && end >= args.end_line);
  const note = complete ? '' : `\n[more follows: go on with start_line ${end + 1}]`;
  return textResult(`${shown.map(({ number, text }) => `${number}\t${text}`).join('\n')}${note}`, {
    ...facts,
    start_line: range.first,
    end_line: end,
    ...(!complete && { next_line: end + 1 }),
    content: shown.map(({ text }) => text).join('\n'),
  });
}

async function readImage(source: TextSource, first: Chunk, mimeType: string): Promise<ToolResult> {
  const { size } = first;
  if (size > MAX_IMAGE_BYTES)
    throw new ToolError(
      `${source.name} is an image of ${size} bytes; at most ${MAX_IMAGE_BYTES} can be shown`,
      {
        advice: 'Make a smaller copy of it with bash.',
      },
    );
  const parts: Buffer[] = [];
  await eachChunk(source, first, (bytes) => parts.push(bytes) > 0);
  const data = Buffer.concat(parts).toString('base64');
  return { content: [{ type: 'image', data, mimeType }] };
}

function fileSource(name: string, ctx: ToolContext, host: ToolHost): TextSource {
  const path = resolvePath(host, name);
  const { max_file_read_bytes: most } = host.client.session.limits;
  return {
    name,
    read: async (offset) => {
      const { content, size, mtime } = await host.client.request(
        'fs.read',
        { path, offset, length: Math.min(CHUNK_BYTES, most), encoding: 'base64' },
        { signal: ctx.signal },
      );
      if (offset === 0) host.seen.see(path, mtime);
      return { bytes: Buffer.from(content, 'base64'), size };
    },
  };
}

function keptSource(name: string, bytes: Buffer): TextSource {
  return { name, read: async (offset) => ({ bytes: bytes.subarray(offset), size: bytes.length }) };
}
