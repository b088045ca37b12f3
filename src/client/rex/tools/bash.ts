// bash: a command to its end, with as much of its output as a model can take.

import type * as z from 'zod/mini';
import type { ToolContext, ToolResult } from '../../../mcp/tool.js';
import type { RemoteExit, RemoteProcess } from '../remote-process.js';
import { type Bash, DEFAULT_COMMAND_MS } from './definitions.js';
import { Excerpt, type ExcerptText } from './excerpt.js';
import { resolvePath, type ToolHost } from './host.js';
import type { KeptOutputs, OutputCollector } from './kept-outputs.js';
import { LastLine } from './last-line.js';

/** How often a caller that wants to know is told how it goes. */
export const PROGRESS_INTERVAL_MS = 1000;
/** A command that writes more than this is ended: nobody will read it, and it may never stop. */
export const MAX_COMMAND_OUTPUT_BYTES = 64 * 1024 * 1024;

type Args = z.output<typeof Bash.input>;

export async function runBash(
  args: Args,
  ctx: ToolContext,
  host: ToolHost,
  outputs: KeptOutputs,
): Promise<ToolResult> {
  const timeoutMs = allowedTime(args.timeout_ms, host);
  return await host.slots.run(async () => {
    host.seen.ranCommand();
    try {
      const process = await host.client.start(
        {
          shell: true,
          command: args.command,
          stdin: args.stdin ?? '', // always given: nothing waits for what never comes
          timeout_ms: timeoutMs,
          max_output_bytes: allowedOutput(host),
          ...(host.login === true && { login: true }),
          cwd: resolvePath(host, args.cwd ?? '.'),
        },
        { signal: ctx.signal },
      );
      const output = new CommandOutput(outputs.collect());
      await follow(process, output, ctx);
      const exit = await process.exit;
      ctx.signal.throwIfAborted();
      return toResult(exit, output, timeoutMs, host);
    } finally {
      host.seen.ranCommand(); // what it changed, it may have changed at its very end
    }
  }, ctx.signal);
}

function allowedTime(asked: number | undefined, { client }: ToolHost): number {
  return Math.min(asked ?? DEFAULT_COMMAND_MS, client.session.limits.hard_timeout_ms);
}

function allowedOutput({ client }: ToolHost): number {
  return Math.min(MAX_COMMAND_OUTPUT_BYTES, client.session.limits.max_output_bytes);
}

async function follow(process: RemoteProcess, output: CommandOutput, ctx: ToolContext): Promise<void> {
  const started = performance.now();
  let seconds = 0;
  const timer = setInterval(() => {
    // Each more than the one before, as MCP asks, also where a late tick and the next are rounded to the same.
    seconds = Math.max(seconds + 1, Math.round((performance.now() - started) / 1000));
    ctx.progress({ progress: seconds, message: output.lastLine || `running for ${seconds} s` });
  }, PROGRESS_INTERVAL_MS);
  try {
    for await (const { stream, bytes } of process) output.push(stream, bytes);
  } finally {
    clearInterval(timer);
  }
}

/** What was written, as it came, and each stream by itself. */
class CommandOutput {
  readonly all = new Excerpt();
  readonly stdout = new Excerpt();
  readonly stderr = new Excerpt();
  readonly #last = new LastLine();
  readonly #collector: OutputCollector;

  constructor(collector: OutputCollector) {
    this.#collector = collector;
  }

  get lastLine(): string {
    return this.#last.text;
  }

  push(stream: 'stdout' | 'stderr', bytes: Buffer): void {
    this.all.push(bytes);
    this[stream].push(bytes);
    this.#last.push(bytes);
    this.#collector.push(bytes);
  }

  keep(): string {
    return this.#collector.keep();
  }
}

function toResult(exit: RemoteExit, output: CommandOutput, timeoutMs: number, host: ToolHost): ToolResult {
  let kept: string | undefined;
  const note = (excerpt: ExcerptText): string => {
    kept ??= output.keep();
    return sayCut(excerpt, kept);
  };
  const { text: all, cutBytes } = output.all.render(note);
  const plainNote = ({ cutBytes: bytes }: ExcerptText): string => `\n[… ${bytes} bytes cut …]\n`;
  const problem = whatEndedIt(exit, timeoutMs, host);
  const ending = problem ?? (exit.exitCode === 0 ? undefined : `[exit code ${exit.exitCode}]`);
  const shown = all === '' ? '(no output)' : all;
  const text = ending === undefined ? shown : `${shown}${shown.endsWith('\n') ? '' : '\n'}${ending}`;
  return {
    content: [{ type: 'text', text }],
    structured: {
      exit_code: exit.exitCode,
      stdout: output.stdout.render(plainNote).text,
      stderr: output.stderr.render(plainNote).text,
      ...(exit.signal !== null && { signal: exit.signal }),
      ...(exit.timedOut && { timed_out: true }),
      ...(kept !== undefined && { cut_bytes: cutBytes, full_output: kept }),
      ...(problem !== undefined && { problem }),
      duration_ms: exit.durationMs,
    },
    ...(problem !== undefined && { isError: true }),
  };
}

function sayCut({ cutBytes, headLines }: ExcerptText, kept: string): string {
  const how = `read {"path":"${kept}","start_line":${headLines + 1}}`;
  return `\n[… ${cutBytes} bytes cut; to see them: ${how} …]\n`;
}

/** Undefined when it ended by itself: its exit code is then an answer like any other. */
function whatEndedIt(exit: RemoteExit, timeoutMs: number, host: ToolHost): string | undefined {
  const { hard_timeout_ms: hard } = host.client.session.limits;
  if (exit.timedOut) {
    const more = timeoutMs < hard ? `Give a larger timeout_ms (up to ${hard}), or run` : 'Run';
    return `[killed: it took longer than ${timeoutMs} ms. ${more} it in the background with its output in a file: nohup … >log 2>&1 &]`;
  }
  if (exit.outputLimitExceeded)
    return `[killed: it wrote more than the ${allowedOutput(host)} bytes that are allowed. Send the output to a file, or through head, tail or grep.]`;
  return exit.signal === null ? undefined : `[killed by ${exit.signal}]`;
}
