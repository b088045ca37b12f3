// rex logs: what a process that was left running has written.

import type { OutputOffsets } from '../../client/rex/followed-output.js';
import type { OutputChunk, StreamName } from '../../client/rex/remote-output.js';
import type { RexClient } from '../../client/rex/rex-client.js';
import { UsageError } from '../flags.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { parseCount } from './files/parse-range.js';
import { explainProcess, readProcessWords } from './process-words.js';
import { writeTo } from '../standard-output.js';
import { untilAborted } from './until-aborted.js';

/** One question. */
const READ_BYTES = 512 * 1024;

interface LogsOptions {
  readonly follow?: boolean;
  readonly stream?: string;
  readonly sinceOffset: number;
  readonly tail?: number;
}

export const logsCommand: RexCommand = {
  examples: [
    ['rex logs p_01m7hchvqtew5ts8hcwnv6c0fr', 'all of it, on stdout and stderr as it was written'],
    ['rex logs server-a p_01m7hchvqtew5ts8hcwnv6c0fr --follow', 'and what is still to come'],
    ['rex logs p_01m7hchvqtew5ts8hcwnv6c0fr --stream stdout --tail 4096', 'the last 4 KiB of one stream'],
  ],
  define: (command, run) => {
    command
      .usage('[options] [TARGET] ID')
      .argument('<words...>', 'the process, as "rex ps" shows it')
      .option('-f, --follow', 'go on until it ends')
      .option('--stream <name>', 'only stdout, or only stderr')
      .option('--since-offset <bytes>', 'from this byte of the stream on', parseCount, 0)
      .option('--tail <bytes>', 'only the last bytes of each stream', parseCount)
      .action(run(logs));
  },
};

async function logs(context: RexContext, words: readonly string[], options: LogsOptions): Promise<number> {
  const { target, ids } = readProcessWords(words, 'logs');
  const streams = chooseStreams(options.stream);
  const client = await context.connect(target);
  for (const id of ids) {
    const { tail, sinceOffset } = options;
    const state = await client
      .request('exec.wait', { process_id: id, timeout_ms: 0 })
      .catch(explainProcess(id));
    const begin = (bytes: number): number => (tail === undefined ? sinceOffset : Math.max(0, bytes - tail));
    const offsets = { stdout: begin(state.bytes_stdout), stderr: begin(state.bytes_stderr) };
    const written =
      options.follow === true ? client.attach(id, offsets) : readWritten(client, id, { streams, offsets });
    for await (const { stream, bytes } of untilAborted(written, context.signal)) {
      if (!streams.includes(stream)) continue;
      if (context.json)
        await context.outJson({ process_id: id, stream, data: bytes.toString('base64'), encoding: 'base64' });
      else await writeTo(process[stream], bytes);
    }
  }
  return 0;
}

/** Up to what there is now. */
async function* readWritten(
  client: RexClient,
  id: string,
  { streams, offsets }: { readonly streams: readonly StreamName[]; readonly offsets: OutputOffsets },
): AsyncGenerator<OutputChunk, void> {
  for (const stream of streams) {
    for (let offset = offsets[stream]; ; ) {
      const ask = { process_id: id, stream, offset, length: READ_BYTES, encoding: 'base64' } as const;
      const bytes = Buffer.from((await client.request('exec.read', ask)).data, 'base64');
      if (bytes.length === 0) break;
      offset += bytes.length;
      yield { stream, bytes };
    }
  }
}

function chooseStreams(name: string | undefined): StreamName[] {
  if (name === undefined) return ['stdout', 'stderr'];
  if (name !== 'stdout' && name !== 'stderr')
    throw new UsageError(`--stream: stdout or stderr, not "${name}"`);
  return [name];
}
