// The methods of the bridge as tools of MCP: the same names, the same schemas, the same answers.

import { toError } from '../../base/errors.js';
import { bindTool, type ToolContext, type ToolDefinition, type ToolResult } from '../../mcp/tool.js';
import { ToolTable, UnknownToolError } from '../../mcp/tool-table.js';
import { callMethod, type Emit, type Handlers, isMethod, type Services } from '../call.js';
import { HugindError, toFailure } from '../errors.js';
import { METHODS } from '../protocol.js';
import type { BridgeMethod } from '../protocol/define.js';

/** A request by its id, and what is told about it. */
export type NotifyOf = (id: string | number) => Emit;

export interface BridgeToolsOptions extends Services {
  readonly handlers: Handlers;
  readonly notifyOf: NotifyOf;
  readonly onError: (error: Error) => void;
}

export class BridgeTools extends ToolTable {
  readonly #options: BridgeToolsOptions;

  constructor(options: BridgeToolsOptions) {
    super(
      Object.values(METHODS).map((method) =>
        bindTool(describe(method), () => Promise.reject(new Error('unused'))),
      ),
    );
    this.#options = options;
  }

  /** Some clients allow no dots in names: `model_list` is `model.list`. */
  override async call(given: string, args: unknown, ctx: ToolContext): Promise<ToolResult> {
    const name = given.replace('_', '.');
    if (!isMethod(name)) throw new UnknownToolError(given, Object.keys(METHODS));
    const { handlers, notifyOf, onError, ...services } = this.#options;
    const tell = ctx.requestId === undefined ? () => {} : notifyOf(ctx.requestId);
    const measure = measureProgress(ctx);
    const emit: Emit = (event, data) => {
      if (ctx.signal.aborted) return;
      tell(event, data);
      if (event === 'progress') measure(data);
    };
    try {
      const result = await callMethod(handlers, name, args, { ...services, signal: ctx.signal, emit });
      return { content: [{ type: 'text', text: JSON.stringify(result) }], structured: result };
    } catch (thrown) {
      ctx.signal.throwIfAborted();
      const error = toFailure(thrown);
      if (error.code === 'internal_error' && !(thrown instanceof HugindError)) onError(toError(thrown));
      return {
        content: [{ type: 'text', text: JSON.stringify({ error }) }],
        structured: { error },
        isError: true,
      };
    }
  }
}

function describe({ name, summary, params, result, effect }: BridgeMethod): ToolDefinition {
  return {
    name,
    description: summary,
    input: params,
    output: result,
    annotations: { readOnlyHint: effect === 'reads', destructiveHint: effect === 'removes' },
  };
}

/** All files of a request together, for clients that have asked for progress in MCP's own words. */
function measureProgress(ctx: ToolContext): (data: Readonly<Record<string, unknown>>) => void {
  const files = new Map<unknown, number>();
  let last = -1;
  return ({ file, downloaded }) => {
    files.set(file, Number(downloaded));
    const progress = [...files.values()].reduce((sum, each) => sum + each, 0);
    if (progress <= last) return; // it may only grow
    last = progress;
    ctx.progress({ progress, message: `${String(file)}: ${String(downloaded)} bytes` });
  };
}
