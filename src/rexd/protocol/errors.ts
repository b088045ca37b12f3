// Error codes of REXD v1 beside those of JSON-RPC.

export const ERROR_CODES = {
  unauthorized: -32001,
  forbidden_path: -32002,
  timeout: -32003,
  output_limit_exceeded: -32004,
  process_not_found: -32005,
  concurrency_conflict: -32006,
  unsupported_capability: -32007,
  resource_limit: -32008,
} as const;

export type ErrorName = keyof typeof ERROR_CODES;
