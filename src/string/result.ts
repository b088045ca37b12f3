// What a command came to, once, as data; and the forms in which the surfaces show it.

/** The codes that clients and tests see. `EXIT_<n>` is made of an exit status. */
export type ErrorCode =
  | 'NOT_FOUND'
  | 'BLOCK_NOT_FOUND'
  | 'INVALID_TARGET'
  | 'INVALID_PAYLOAD'
  | 'FILE_NOT_ALLOWED'
  | 'COMMAND_UNSUPPORTED'
  | 'CONFLICT'
  | 'LOAD_ERROR'
  /** An answer of 401 or 403. */
  | 'AUTH_REQUIRED'
  | 'INTERNAL_ERROR'
  | 'BUSY'
  | 'TIMEOUT'
  | 'CANCELLED'
  | 'POLICY_DENIED'
  | 'WAITING_FOR_INPUT'
  /** A shell that can no longer say when a command has ended. */
  | 'SHELL_LOST'
  | 'QUEUE_FULL'
  | 'QUEUE_TIMEOUT'
  /** Of a client that was not answered. */
  | 'TRANSPORT_ERROR'
  | `EXIT_${number}`;

/** What an edit did to a file, for surfaces that show it as `✓ target — summary`. */
export interface EditChange {
  readonly target: string;
  readonly summary: string;
  readonly diff: string;
}

export interface Success {
  readonly ok: true;
  /** One line, or several, about what was done. */
  readonly system?: string;
  /** What was asked for; shown below `---` when there is a system line. */
  readonly content?: string;
  /** It has changed something: ChanFlow says so by `✓`. */
  readonly done?: boolean;
  readonly change?: EditChange;
}

export interface Failure {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  /** Lines that help. */
  readonly context?: readonly string[];
  /** The file that is not there, by its name from home: ChanFlow gives it a line of its own. */
  readonly missing?: string;
  /** What there was all the same, such as the output of a command that failed; shown below `---`. */
  readonly content?: string;
}

export type CommandResult = Success | Failure;

const RULE = '---';

export function succeed(system: string, content?: string): Success {
  return content === undefined ? { ok: true, system } : { ok: true, system, content };
}

/** For what has changed something and has no more to say about it. */
export function confirm(system: string): Success {
  return { ok: true, system, done: true };
}

export function show(content: string): Success {
  return { ok: true, content };
}

export function fail(code: ErrorCode, message: string, ...context: string[]): Failure {
  return { ok: false, code, message, ...(context.length > 0 && { context }) };
}

/** The text of a result, without any sign of how it went: what follows `ERROR(CODE): ` in a failure. */
export function bodyOf(result: CommandResult): string {
  if (!result.ok) return join([result.message, ...(result.context ?? [])].join('\n'), result.content);
  return join(result.system, result.content);
}

/** As HTTP, MCP and the command line print it. A failure without a code is UNKNOWN. */
export function renderPlain(outcome: { ok: boolean; code: string | null; content: string }): string {
  return outcome.ok ? outcome.content : `ERROR(${outcome.code ?? 'UNKNOWN'}): ${outcome.content}`;
}

/** As ChanFlow prints it: content as it is, `✓` before a confirmation, `✗ CODE: message` with indented context. */
export function renderFeedback(result: CommandResult): string {
  if (!result.ok) {
    const { code, missing, content } = result;
    const message = missing === undefined ? result.message : 'file not found';
    const context = [...(missing === undefined ? [] : [`path: ${missing}`]), ...(result.context ?? [])];
    return join([`✗ ${code}: ${message}`, ...context.map((line) => `  ${line}`)].join('\n'), content);
  }
  if (result.change !== undefined) {
    const { target, summary, diff } = result.change;
    return `✓ ${target} — ${summary}${diff === '' ? '' : `\n\n${diff}`}`;
  }
  return result.done === true ? `✓ ${bodyOf(result)}` : bodyOf(result);
}

function join(system: string | undefined, content: string | undefined): string {
  if (system === undefined) return content ?? '';
  return content === undefined ? system : `${system}\n${RULE}\n${content}`;
}
