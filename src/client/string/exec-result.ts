// What a command came to, as the caller gets it, from the three events of /exec.

import type { ExecHead } from '../../string/protocol.js';

/** The answer broke off: whether the command has run, and how it ended, is not known. */
export const STREAM_INCOMPLETE = 'STREAM_INCOMPLETE';
/** As many commands wait in the topic as may; this one has not run. */
export const QUEUE_FULL = 'QUEUE_FULL';
/** The turn of the command did not come in time; it has not run. */
export const QUEUE_TIMEOUT = 'QUEUE_TIMEOUT';

export interface ExecResult {
  readonly ok: boolean;
  /** Null when it went well. */
  readonly code: string | null;
  /** What the command gave; for a failure `ERROR(CODE): …`. */
  readonly content: string;
  /** The document that is open now, if there is one. */
  readonly meta: ExecHead['meta'];
  /** The topic really used, in its canonical spelling; null when the daemon did not come to say. */
  readonly topic: string | null;
  readonly topicType: ExecHead['topic_type'] | null;
  readonly requestId: string | null;
}

/** Gathers the events of one answer. */
export class ExecAnswer {
  #head: ExecHead | undefined;
  #content: string | undefined;

  /** True when it was the last one. Throws for data that is none. */
  take(event: string | undefined, data: string): boolean {
    if (event === 'head') this.#head = readHead(JSON.parse(data));
    if (event === 'content') this.#content = readText(JSON.parse(data));
    return event === 'done' && this.#head !== undefined && this.#content !== undefined;
  }

  complete(): ExecResult {
    if (this.#head === undefined || this.#content === undefined)
      throw new TypeError('the answer is not complete');
    return { ...this.#described(), content: stripContentPrefix(this.#content) };
  }

  incomplete(why: string): ExecResult {
    return { ...this.#described(), ...failure(STREAM_INCOMPLETE, why) };
  }

  #described(): ExecResult {
    const head = this.#head;
    return {
      ok: head?.ok ?? false,
      code: head?.code ?? null,
      content: '',
      meta: head?.meta ?? null,
      topic: head?.topic ?? null,
      topicType: head?.topic_type ?? null,
      requestId: head?.request_id ?? null,
    };
  }
}

/** A command that the daemon has not begun, and why. */
export function notBegun(code: string, message: string): ExecResult {
  return { meta: null, topic: null, topicType: null, requestId: null, ...failure(code, message) };
}

/** The content without its first line, `re: [request_id] /cmd`. */
export function stripContentPrefix(raw: string): string {
  if (!raw.startsWith('re: ')) return raw;
  const end = raw.indexOf('\n');
  return end === -1 ? '' : raw.slice(end + 1);
}

function failure(code: string, message: string): Pick<ExecResult, 'ok' | 'code' | 'content'> {
  return { ok: false, code, content: `ERROR(${code}): ${message}` };
}

function readHead(value: unknown): ExecHead {
  const head = value as ExecHead | null;
  if (typeof head?.ok !== 'boolean') throw new TypeError('a head that does not say how it went');
  return head;
}

function readText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('content that is no text');
  return value;
}
