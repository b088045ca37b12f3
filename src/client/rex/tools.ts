// The tools an agent works with on a target: bash, read, write, edit, list, glob, search.
//
// One table for every runtime: as MCP (see src/mcp), and as the tool definitions of OpenAI and Anthropic with `runTool`.

import { toJsonSchema, type ObjectSchema } from '../../mcp/json-schema.js';
import { ToolTable } from '../../mcp/tool-table.js';
import {
  bindTool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolProgress,
  type ToolResult,
  textOf,
} from '../../mcp/tool.js';
import { RexClient } from './rex-client.js';
import { runBash } from './tools/bash.js';
import { editText, writeText } from './tools/change-file.js';
import { Bash, Edit, Glob, List, Read, REX_TOOLS, Search, Write } from './tools/definitions.js';
import { explain, isLost } from './tools/explain.js';
import { globFiles, listFolder, searchFiles } from './tools/find-files.js';
import { hostOf, type RexToolTarget, type ToolHost } from './tools/host.js';
import { KeptOutputs } from './tools/kept-outputs.js';
import { readText } from './tools/read.js';

/** Asked for at every call, so that the target may be another one, or be connected again. */
export type RexToolSource = (signal: AbortSignal) => Promise<RexToolTarget>;

export interface RunToolOptions {
  /** Aborting it kills what the call has started. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (step: ToolProgress) => void;
}

export interface RunToolResult extends ToolResult {
  /** What to give the model. */
  readonly text: string;
}

export class RexTools {
  /** For `serveLines` of the MCP adapter. */
  readonly table: ToolTable;
  readonly #source: RexToolSource;
  readonly #outputs = new KeptOutputs();

  constructor(target: RexClient | RexToolTarget | RexToolSource) {
    this.#source = toSource(target);
    this.table = new ToolTable([
      this.#bind(Bash, (args, ctx, host) => runBash(args, ctx, host, this.#outputs)),
      this.#bind(Read, (args, ctx, host) => readText(args, ctx, host, this.#outputs)),
      this.#bind(Write, writeText),
      this.#bind(Edit, editText),
      this.#bind(List, listFolder),
      this.#bind(Glob, globFiles),
      this.#bind(Search, searchFiles),
    ]);
  }

  /**
   * One call of a model: `args` as an object or, as OpenAI gives it, as text. A call that fails is a result with
   * `isError`; rejects for a name that is no tool, and when it was called off.
   */
  async runTool(name: string, args: unknown, options: RunToolOptions = {}): Promise<RunToolResult> {
    const result = await this.table.call(name, args, {
      signal: options.signal ?? new AbortController().signal,
      progress: (step) => options.onProgress?.(step),
      log: () => {},
    });
    return { ...result, text: textOf(result) };
  }

  #bind<Definition extends ToolDefinition>(
    definition: Definition,
    run: (args: OutputOf<Definition>, ctx: ToolContext, host: ToolHost) => Promise<ToolResult>,
  ): Tool {
    const { name, annotations } = definition;
    return bindTool(definition, async (args, ctx) => {
      let client: RexClient | undefined;
      const call = async (): Promise<ToolResult> => {
        const target = await this.#source(ctx.signal);
        client = target.client;
        try {
          return withNotice(await run(args, ctx, hostOf(target)), target.notice);
        } finally {
          target.release?.();
        }
      };
      try {
        return await call().catch((thrown: unknown) => {
          // What only looks can look again over a new connection; what changes something may have been done.
          const mayRepeat = annotations?.readOnlyHint === true && !ctx.signal.aborted;
          if (mayRepeat && isLost(thrown, client)) return call();
          throw thrown;
        });
      } catch (thrown) {
        throw explain(thrown, name, client);
      }
    });
  }
}

type OutputOf<Definition extends ToolDefinition> = Definition['input']['_zod']['output'];

function toSource(target: RexClient | RexToolTarget | RexToolSource): RexToolSource {
  if (typeof target === 'function') return target;
  const fixed = target instanceof RexClient ? { client: target } : target;
  return async () => fixed;
}

function withNotice(result: ToolResult, notice: string | undefined): ToolResult {
  if (notice === undefined) return result;
  return { ...result, content: [{ type: 'text', text: notice }, ...result.content] };
}

export interface OpenAiTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  /** Arguments may be left out, which strict mode does not know. */
  readonly strict: false;
}

/** For `tools` of OpenAI's Responses. */
export function openAiTools(): OpenAiTool[] {
  return REX_TOOLS.map(({ name, description, input }) => ({
    type: 'function',
    name,
    description,
    parameters: toJsonSchema(input),
    strict: false,
  }));
}

export interface OpenAiChatTool {
  readonly type: 'function';
  readonly function: Omit<OpenAiTool, 'type'>;
}

/** For `tools` of OpenAI's chat completions, and of the many servers that speak them. */
export function openAiChatTools(): OpenAiChatTool[] {
  return openAiTools().map(({ type, ...rest }) => ({ type, function: rest }));
}

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

/** For `tools` of Anthropic's Messages. */
export function anthropicTools(): AnthropicTool[] {
  return REX_TOOLS.map(({ name, description, input }) => ({
    name,
    description,
    input_schema: toJsonSchema(input),
  }));
}
