// A prompt as data: what a person, not a model, calls by its name. Clients offer it as a slash command.

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  /** Values that begin with what has been typed. */
  readonly complete?: (begun: string) => Promise<readonly string[]>;
}

export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly arguments?: readonly PromptArgument[];
  /** The text that goes into the conversation as the user's. A LocalError or RpcError is told to whoever asked. */
  readonly get: (args: Readonly<Record<string, string>>) => Promise<string>;
}
