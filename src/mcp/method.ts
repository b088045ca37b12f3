// What a server answers beside its tools, in both eras alike: requests by their methods, and what it says it can do.

import type { McpDefinition } from './server.js';
import { promptMethods } from './prompt-methods.js';
import type { ToolAnswers, ToolNeeds } from './tool.js';

export interface McpMethodContext {
  readonly signal: AbortSignal;
  /** What was asked of the client in the last round, answered. */
  readonly answers?: ToolAnswers;
}

/** The result as MCP spells it, or what has to be asked of the client first. An RpcError is told to whoever asked. */
export type McpMethod = (
  params: Readonly<Record<string, unknown>>,
  ctx: McpMethodContext,
) => Promise<Readonly<Record<string, unknown>> | { readonly needs: ToolNeeds }>;

export type McpMethods = Readonly<Record<string, McpMethod>>;

const known = new WeakMap<McpDefinition, McpMethods>();

export function methodsOf(definition: McpDefinition): McpMethods {
  let methods = known.get(definition);
  if (methods === undefined) {
    methods = { ...promptMethods(definition.prompts ?? []), ...definition.methods };
    known.set(definition, methods);
  }
  return methods;
}

export function capabilitiesOf({ prompts = [], capabilities, experimental }: McpDefinition) {
  return {
    tools: { listChanged: false },
    logging: {},
    ...(prompts.length > 0 && { prompts: { listChanged: false }, completions: {} }),
    ...(experimental !== undefined && { experimental }),
    ...capabilities,
  };
}
