// What a target refuses, in words for a model: what is the matter, and what to do instead.

import { LaneFullError } from '../../../base/lane.js';
import { RpcError, toError } from '../../../base/errors.js';
import { ClosedError } from '../../../base/resource.js';
import { ToolError } from '../../../mcp/tool-table.js';
import { ConnectError } from '../explain-failure.js';
import { SessionLostError } from '../reconnect.js';
import type { RexClient } from '../rex-client.js';

interface Told {
  readonly reason?: unknown;
  readonly path?: unknown;
  readonly allowed_roots?: unknown;
  readonly issues?: readonly { readonly path?: unknown; readonly message?: unknown }[];
}

const UNAUTHORIZED = -32001;
const FORBIDDEN_PATH = -32002;
const TIMEOUT = -32003;
const CONFLICT = -32006;
const UNSUPPORTED = -32007;
const RESOURCE_LIMIT = -32008;

const ADVICE_BY_REASON: Readonly<Record<string, string>> = {
  not_found: 'Look for the right path with list or glob.',
  not_a_file: 'Use list for a folder.',
  not_a_directory: 'Use read for a file, or name the folder it is in.',
  already_exists: 'Read it first, then edit it, or write with mode replace.',
  access_denied: 'The user that rexd runs as may not do this.',
  too_large: 'Do it in parts, or with bash.',
  invalid_pattern: 'Mend the pattern and call again.',
  not_executable: 'Check the command.',
};

const ADVICE_BY_CODE: Readonly<Record<number, string>> = {
  [UNAUTHORIZED]: 'The rules of the target forbid it; do it another way, or ask the user.',
  [TIMEOUT]: 'Ask for less at once, or give more time.',
  [CONFLICT]: 'Read the file again, then decide what to change.',
  [UNSUPPORTED]: 'The target cannot do this; do it another way.',
  [RESOURCE_LIMIT]: 'Ask for less at once, or wait for what is running.',
};

/** `what` was being done. */
export function explain(thrown: unknown, what: string, client: RexClient | undefined): Error {
  if (thrown instanceof ToolError) return thrown;
  if (thrown instanceof LaneFullError)
    return new ToolError(`${what}: ${thrown.message}`, { advice: 'Wait for the commands that are running.' });
  if (thrown instanceof ConnectError)
    return new ToolError(thrown.message, {
      advice: 'Tell the user; nothing on the target can be used until this is mended.',
      facts: { reason: thrown.reason },
      cause: thrown,
    });
  if (isLost(thrown, client))
    return new ToolError(`${what}: the connection to the target was lost`, {
      advice: 'It may have been done or not: look first. The next call connects again.',
      facts: { reason: 'connection_lost' },
      cause: thrown,
    });
  return thrown instanceof RpcError ? explainRefusal(thrown, what) : toError(thrown);
}

/** The connection, not the call, is what failed. */
export function isLost(thrown: unknown, client: RexClient | undefined): boolean {
  if (thrown instanceof RpcError || thrown instanceof ToolError) return false;
  return thrown instanceof ClosedError || thrown instanceof SessionLostError || client?.closing === true;
}

function explainRefusal(error: RpcError, what: string): ToolError {
  const told: Told = typeof error.data === 'object' && error.data !== null ? error.data : {};
  const message = error.message.replace(/^params\.(?=\w+: )/, '');
  const facts = { code: error.code, ...(typeof told.reason === 'string' && { reason: told.reason }) };
  return new ToolError(`${what}: ${message}`, { ...adviceFor(error.code, told), facts, cause: error });
}

function adviceFor(code: number, { reason, allowed_roots: roots, issues }: Told): { advice?: string } {
  if (code === FORBIDDEN_PATH && Array.isArray(roots) && roots.length > 0)
    return { advice: `Allowed here: ${roots.slice(0, 8).join(', ')}` };
  if (issues?.some(({ path }) => path === 'old_string') === true)
    return {
      advice:
        'Read that part of the file and copy the text exactly, with its whitespace and without line numbers.',
    };
  const advice = (typeof reason === 'string' ? ADVICE_BY_REASON[reason] : undefined) ?? ADVICE_BY_CODE[code];
  return advice === undefined ? {} : { advice };
}
