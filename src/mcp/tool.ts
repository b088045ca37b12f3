// A tool as data, and what it gives: the one form that MCP, OpenAI, Anthropic and a loop of one's own are all made from.

import type * as z from 'zod/mini';

/** Hints for whoever decides what needs a person's consent; the words are MCP's. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolDefinition<Input extends z.ZodMiniObject = z.ZodMiniObject> {
  readonly name: string;
  readonly title?: string;
  /** For the model that chooses among tools. */
  readonly description: string;
  readonly input: Input;
  /** What `structured` of a result holds. */
  readonly output?: z.ZodMiniObject;
  readonly annotations?: ToolAnnotations;
  /** Names that models bring along from other tools, and the argument that is meant by each. */
  readonly aliases?: Readonly<Record<string, string>>;
}

export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  /** `data` in base64. */
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: ToolResource };

export type ToolResource = { readonly uri: string; readonly mimeType: string } & (
  | { readonly text: string }
  /** In base64. */
  | { readonly blob: string }
);

/** What only the caller can tell, its user or its model; the call is made once more with the answers. */
export interface ToolNeeds {
  readonly requests: Readonly<Record<string, ToolQuestion>>;
  /** Comes back with the answers as it was; the caller can read it, but not change it. */
  readonly state?: unknown;
}

export interface ToolQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface ToolAnswers {
  /** By the names of the questions, as they came: nobody has checked them. */
  readonly responses: Readonly<Record<string, unknown>>;
  readonly state: unknown;
  /** What may be asked at all. */
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
}

/** Either of `content` and `structured` tells all of it: some clients show a model the one, some the other. */
export interface ToolResult {
  readonly content: readonly ToolContent[];
  readonly structured?: Readonly<Record<string, unknown>>;
  /** The call was in vain; the text says why and what to do. */
  readonly isError?: boolean;
  /** There is no result yet: this has to be known first. */
  readonly needs?: ToolNeeds;
}

export interface ToolProgress {
  /** Never less than the last time. */
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export type ToolLogLevel = 'debug' | 'info' | 'warning' | 'error';

export interface ToolContext {
  /** What the caller knows the call by, where calls have such a thing. */
  readonly requestId?: string | number;
  /** Aborts when the caller calls off or goes away. */
  readonly signal: AbortSignal;
  /** For callers that want to know how it goes; nothing happens when nobody does. */
  readonly progress: (step: ToolProgress) => void;
  readonly log: (level: ToolLogLevel, message: string) => void;
  /** Of what was asked the last time; nothing where callers cannot be asked. */
  readonly answers?: ToolAnswers;
}

export interface Tool {
  readonly definition: ToolDefinition;
  /** The arguments as the schema gives them. */
  readonly call: (args: never, ctx: ToolContext) => Promise<ToolResult>;
}

export function bindTool<Input extends z.ZodMiniObject>(
  definition: ToolDefinition<Input>,
  call: (args: z.output<Input>, ctx: ToolContext) => Promise<ToolResult>,
): Tool {
  return { definition, call };
}

export function textResult(text: string, structured?: Readonly<Record<string, unknown>>): ToolResult {
  return { content: [{ type: 'text', text }], ...(structured !== undefined && { structured }) };
}

/** `advice` is what the model can do about it. */
export function failedResult(
  problem: string,
  advice?: string,
  facts: Readonly<Record<string, unknown>> = {},
): ToolResult {
  const text = advice === undefined ? problem : `${problem}\n${advice}`;
  return {
    ...textResult(text, { error: problem, ...(advice !== undefined && { advice }), ...facts }),
    isError: true,
  };
}

/** A result as every revision of the protocol has it. */
export function toWireResult({ content, structured, isError }: ToolResult) {
  return {
    content: content.map((part) => ({ ...part })),
    ...(structured !== undefined && { structuredContent: { ...structured } }),
    isError: isError === true,
  };
}

/** What a result says in words. */
export function textOf({ content }: ToolResult): string {
  return content.map(sayPart).join('\n');
}

function sayPart(part: ToolContent): string {
  if (part.type === 'text') return part.text;
  return part.type === 'resource' ? sayResource(part.resource) : `[${part.mimeType}]`;
}

function sayResource(resource: ToolResource): string {
  return 'text' in resource ? resource.text : `[${resource.uri}]`;
}
