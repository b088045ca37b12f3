// Prompts as methods: listed, got, and their arguments completed.

import { LocalError, RpcError } from '../base/errors.js';
import { INVALID_PARAMS, isObject } from '../wire/jsonrpc/message.js';
import type { McpMethods } from './method.js';
import type { Prompt } from './prompt.js';

/** MCP's own bound on the values of one completion. */
export const MAX_COMPLETIONS = 100;

/** None, where there are no prompts. */
export function promptMethods(prompts: readonly Prompt[]): McpMethods {
  if (prompts.length === 0) return {};
  return {
    'prompts/list': async () => ({ prompts: prompts.map(describePrompt) }),
    'prompts/get': async ({ name, arguments: args }) => {
      const prompt = prompts.find((each) => each.name === name);
      if (prompt === undefined)
        throw new RpcError(INVALID_PARAMS, `no prompt ${JSON.stringify(String(name).slice(0, 64))}`);
      const text = await getText(prompt, args);
      return {
        description: prompt.description,
        messages: [{ role: 'user', content: { type: 'text', text } }],
      };
    },
    'completion/complete': async ({ ref, argument }) => {
      const { type, name } = requireObject('ref', ref);
      const { name: field, value } = requireObject('argument', argument);
      if (typeof value !== 'string') throw new RpcError(INVALID_PARAMS, 'argument.value must be a string');
      const prompt = type === 'ref/prompt' ? prompts.find((each) => each.name === name) : undefined;
      const complete = prompt?.arguments?.find((each) => each.name === field)?.complete;
      const values = (await complete?.(value)) ?? [];
      const shown = values.slice(0, MAX_COMPLETIONS);
      return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
    },
  };
}

function requireObject(name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value as Record<string, unknown>;
  throw new RpcError(INVALID_PARAMS, `${name} must be an object`);
}

async function getText(prompt: Prompt, args: unknown): Promise<string> {
  try {
    return await prompt.get((args ?? {}) as Record<string, string>);
  } catch (thrown) {
    if (thrown instanceof LocalError) throw new RpcError(INVALID_PARAMS, thrown.message, { cause: thrown });
    throw thrown;
  }
}

function describePrompt({ name, title, description, arguments: args = [] }: Prompt) {
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    arguments: args.map((arg) => ({
      name: arg.name,
      description: arg.description,
      required: arg.required === true,
    })),
  };
}
