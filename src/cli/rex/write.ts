// rex write: a file from standard input, another file, or the command line.

import { createHash } from 'node:crypto';
import { RpcError } from '../../base/errors.js';
import { gather } from '../../client/rex/copy-file.js';
import { remoteSide } from '../../client/rex/copy-remote.js';
import { newId } from '../../base/ids.js';
import { UsageError } from '../flags.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { explainPath, type OnTarget, PathsOnTargets } from './files/on-target.js';
import { parseMode } from './files/parse-range.js';
import { sayBytes } from './files/progress.js';
import { inputFrom } from './files/read-input.js';

interface WriteOptions {
  readonly from?: string;
  readonly content?: string;
  readonly create?: boolean;
  readonly append?: boolean;
  readonly parents?: boolean;
  readonly mode?: number;
  readonly expectSha256?: string;
}

export const writeCommand: RexCommand = {
  examples: [
    ['echo hello | rex write web:notes.txt', 'what comes on standard input'],
    ['rex write web:/srv/app/run.sh --from run.sh --mode 755 -p', 'a file, with its folders and permissions'],
    ['rex write web:log.txt --append --content "done"', 'a text at the end of what is there'],
    ['rex write web:a.txt --expect-sha256 2cf2… < a.txt', 'only if nobody has changed it meanwhile'],
  ],
  define: (command, run) => {
    command
      .argument('<path>', 'TARGET:PATH, or PATH on the chosen target')
      .option('--from <file>', 'a file of this machine; "-" is standard input')
      .option('--content <text>', 'this text, as it is')
      .option('--create', 'only if nothing is there yet')
      .option('--append', 'at the end of what is there')
      .option('-p, --parents', 'make the folders it is in')
      .option('--mode <octal>', 'its permissions: 644, 0755', parseMode)
      .option('--expect-sha256 <hash>', 'only if this is what is there now', parseHash)
      .action(run<WriteOptions>(write));
  },
};

async function write(
  context: RexContext,
  args: readonly string[],
  options: WriteOptions,
): Promise<undefined> {
  const [text = ''] = args;
  if (text.endsWith('/')) throw new UsageError(`"${text}" is a folder; name the file in it`);
  if (options.create === true && options.append === true) throw new UsageError('--create or --append?');
  if (options.content !== undefined && options.from !== undefined)
    throw new UsageError('--content or --from?');
  if (options.content === undefined && options.from === undefined && process.stdin.isTTY)
    context.say('rex: reading from the terminal; end with Ctrl-D');
  const place = await new PathsOnTargets(context).find(text);
  try {
    const written = await writeAll(context, place, options);
    if (options.mode !== undefined) await setMode(place, options.mode);
    if (context.json) await context.outJson({ target: place.choice.alias, ...written });
    else
      context.say(
        `${written.created ? 'created' : 'wrote'} ${place.shown} (${sayBytes(written.bytes_written)})`,
      );
    return undefined;
  } catch (thrown) {
    throw explainPath(place.shown, thrown);
  }
}

interface Written {
  readonly path: string;
  readonly bytes_written: number;
  readonly created: boolean;
  readonly sha256: string;
}

/** What fits one request is one request. More goes beside its goal and takes its name when it is whole. */
async function writeAll(context: RexContext, place: OnTarget, options: WriteOptions): Promise<Written> {
  const { client, path } = place;
  const hash = createHash('sha256');
  const pieces = inPieces(options);
  const first = await pieces.next();
  const second = await pieces.next();
  const bytes = first.done === true ? Buffer.alloc(0) : first.value;
  hash.update(bytes);
  const common = { encoding: 'base64', mkdir_parents: options.parents === true } as const;
  const mode = options.append === true ? 'append' : options.create === true ? 'create' : 'replace';
  const expected = options.expectSha256 === undefined ? {} : { expected_sha256: options.expectSha256 };
  const put = { ...common, content: bytes.toString('base64'), mode } as const;
  if (second.done === true) {
    const { created, path: real } = await client.request('fs.write', { path, ...put, ...expected });
    return { path: real, bytes_written: bytes.length, created, sha256: hash.digest('hex') };
  }
  const straight = options.append === true;
  const part = straight ? path : `${path}.${newId('w')}.rex-part`;
  const before = await client.request('fs.stat', { path });
  if (before.exists && options.create === true) throw new RpcError(-32602, 'file exists');
  let total = bytes.length;
  try {
    const opened = await client.request('fs.write', { path: part, ...put, ...(straight && expected) });
    for (let piece: IteratorResult<Buffer, void> = second; piece.done !== true; piece = await pieces.next()) {
      context.signal.throwIfAborted();
      hash.update(piece.value);
      total += piece.value.length;
      const content = piece.value.toString('base64');
      await client.request('fs.write', { path: part, content, encoding: 'base64', mode: 'append' });
    }
    if (!straight) await takeName(place, part, options);
    const { path: real } = straight ? opened : await client.request('fs.stat', { path });
    return { path: real, bytes_written: total, created: !before.exists, sha256: hash.digest('hex') };
  } catch (thrown) {
    if (!straight) await client.request('fs.remove', { path: part, missing_ok: true }).catch(() => {});
    throw thrown;
  }
}

async function takeName({ client, path }: OnTarget, part: string, options: WriteOptions): Promise<void> {
  if (options.expectSha256 !== undefined) {
    const sha256 = await remoteSide(client, '').hash(path, AbortSignal.timeout(600_000));
    if (sha256 !== options.expectSha256)
      throw new RpcError(-32006, 'The file has changed', { data: { current: { sha256 } } });
  }
  const kept = options.mode === undefined ? await client.request('fs.stat', { path }) : undefined;
  if (kept?.mode !== undefined) {
    const there = await remoteSide(client, '').stat(path);
    if (there?.mode !== undefined)
      await client.run({ argv: ['chmod', there.mode.toString(8), '--', part] }).catch(() => {});
  }
  await client.request('fs.move', { from: part, to: path, overwrite: options.create !== true });
}

async function* inPieces(options: WriteOptions): AsyncGenerator<Buffer, void> {
  if (options.content !== undefined) {
    yield Buffer.from(options.content);
    return;
  }
  yield* gather(inputFrom(options.from ?? '-'));
}

async function setMode({ client, path, shown }: OnTarget, mode: number): Promise<void> {
  const { exitCode, stderr } = await client.run({ argv: ['chmod', mode.toString(8), '--', path] });
  if (exitCode !== 0)
    throw new RpcError(
      -32602,
      `written, but its mode cannot be set: ${stderr.toString('utf8').trim() || shown}`,
    );
}

function parseHash(text: string): string {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new UsageError('a sha256 has 64 hexadecimal digits');
  return text.toLowerCase();
}
