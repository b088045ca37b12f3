// rex read: the bytes of files, exactly, one file after the other.

import { openRemoteFile } from '../../client/rex/copy-read.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { FailedError } from '../failed-error.js';
import { explainPath, type OnTarget, PathsOnTargets } from './files/on-target.js';
import { type LineRange, parseBytes, parseLines } from './files/parse-range.js';
import { takeLines } from './files/take-lines.js';

/** A file as JSON is one value, held whole; what is larger is read as it is. */
export const MAX_JSON_CONTENT_BYTES = 16 * 1024 * 1024;

interface ReadOptions {
  readonly lines?: LineRange;
  readonly offset?: number;
  readonly length?: number;
}

export const readCommand: RexCommand = {
  examples: [
    ['rex read web:/srv/app/config.toml', 'a file of the target "web"'],
    ['rex read -t web config.toml --lines 10-20', 'some lines of a file in its working folder'],
    ['rex read web:core.bin --offset 1M --length 64k > part', 'a part of it, byte for byte'],
  ],
  define: (command, run) => {
    command
      .argument('<paths...>', 'TARGET:PATH, or PATH on the chosen target')
      .option('--lines <a-b>', 'only these lines: 3, 3-7, 3-, -7', parseLines)
      .option('--offset <bytes>', 'begin there: 100, 64k, 1M', parseBytes)
      .option('--length <bytes>', 'no more than this', parseBytes)
      .action(run<ReadOptions>(read));
  },
};

async function read(context: RexContext, paths: readonly string[], options: ReadOptions): Promise<number> {
  if (options.lines !== undefined && (options.offset ?? options.length) !== undefined)
    throw new UsageError('lines or bytes? --lines does not go with --offset and --length');
  const targets = new PathsOnTargets(context);
  let code: number = EXIT.ok;
  for (const text of paths) {
    const place = await targets.find(text);
    try {
      await (context.json ? readAsJson(context, place, options) : readBytes(context, place, options));
    } catch (thrown) {
      // As with cat: one that cannot be read does not keep the others.
      const error = explainPath(place.shown, thrown);
      if (paths.length === 1 || !(error instanceof FailedError)) throw error;
      context.warn(`rex: ${error.message}`);
      code = EXIT.failed;
    }
  }
  return code;
}

async function readBytes(context: RexContext, place: OnTarget, options: ReadOptions): Promise<void> {
  const { chunks } = await openPart(context, place, options);
  for await (const bytes of chunks) await context.out(bytes);
}

async function readAsJson(context: RexContext, place: OnTarget, options: ReadOptions): Promise<void> {
  const { facts, chunks } = await openPart(context, place, options);
  const parts: Buffer[] = [];
  let held = 0;
  for await (const bytes of chunks) {
    held += bytes.length;
    if (held > MAX_JSON_CONTENT_BYTES)
      context.fail(`${place.shown}: too large for JSON`, 'Read it without --json, or a part with --length.');
    parts.push(bytes);
  }
  const bytes = Buffer.concat(parts);
  const text = asText(bytes);
  await context.outJson({
    target: place.choice.alias,
    ...facts,
    encoding: text === undefined ? 'base64' : 'utf8',
    content: text ?? bytes.toString('base64'),
  });
}

async function openPart({ signal }: RexContext, { client, path }: OnTarget, options: ReadOptions) {
  const { lines, offset = 0, length } = options;
  const file = await openRemoteFile(client, path, {
    offset,
    ...(length !== undefined && { end: offset + length }),
    signal,
  });
  return lines === undefined ? file : { facts: file.facts, chunks: takeLines(file.chunks, lines) };
}

function asText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
