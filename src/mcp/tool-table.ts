// The tools of a server by their names: arguments are read here, and what a tool throws becomes a result in plain words.

import { LocalError, RpcError, toError } from '../base/errors.js';
import { nearest } from '../base/nearest.js';
import { readArguments } from './tool-arguments.js';
import { failedResult, type Tool, type ToolContext, type ToolDefinition, type ToolResult } from './tool.js';

export class UnknownToolError extends LocalError {
  override readonly name = 'UnknownToolError';

  constructor(name: string, known: readonly string[]) {
    const shown = JSON.stringify(name.slice(0, 64));
    const close = nearest(name, known);
    const meant = close === undefined ? `there are: ${known.join(', ')}` : `did you mean ${close}?`;
    super('unknown_tool', `no tool ${shown}; ${meant}`);
  }
}

/** What a tool throws when it has words for the model: why it was in vain, and what to do. */
export class ToolError extends LocalError {
  override readonly name = 'ToolError';
  readonly advice: string | undefined;

  constructor(
    problem: string,
    options: { advice?: string; facts?: Record<string, unknown>; cause?: unknown },
  ) {
    super('tool_failed', problem, options);
    this.advice = options.advice;
  }
}

export class ToolTable {
  readonly #tools: ReadonlyMap<string, Tool>;

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.definition.name, tool]));
    if (this.#tools.size !== tools.length) throw new TypeError('two tools have the same name');
  }

  get definitions(): ToolDefinition[] {
    return [...this.#tools.values()].map(({ definition }) => definition);
  }

  /**
   * A call that fails is a result that says so; rejects with an UnknownToolError for a name that is none, and with the
   * signal's reason when it was called off.
   */
  async call(name: string, given: unknown, ctx: ToolContext): Promise<ToolResult> {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw new UnknownToolError(name, [...this.#tools.keys()]);
    const read = readArguments(tool.definition, given);
    if (!read.ok)
      return failedResult(`${name}: ${read.problems.join('; ')}`, 'Mend the arguments and call again.');
    try {
      ctx.signal.throwIfAborted();
      return mentionIgnored(await tool.call(read.args as never, ctx), read.ignored);
    } catch (thrown) {
      ctx.signal.throwIfAborted();
      return toFailure(name, thrown);
    }
  }
}

/** An argument that has no effect is never passed over in silence. */
function mentionIgnored(result: ToolResult, ignored: readonly string[]): ToolResult {
  if (ignored.length === 0) return result;
  const text = `[there is no argument ${ignored.join(', ')}: it had no effect]`;
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

function toFailure(name: string, thrown: unknown): ToolResult {
  if (thrown instanceof ToolError) return failedResult(thrown.message, thrown.advice, thrown.facts);
  if (thrown instanceof LocalError || thrown instanceof RpcError)
    return failedResult(`${name}: ${thrown.message}`);
  return failedResult(`${name} failed: ${toError(thrown).message}`);
}
