// What a command came to, as the three events of /exec.

import { renderPlain } from '../result.js';
import type { CommandOutcome } from '../runtime.js';
import type { ExecHead } from '../protocol.js';

/** Of the first line of a command, where it is only shown. */
export const MAX_LABEL_CHARS = 80;
const ELLIPSIS = '...';

export interface ExecSubject {
  readonly agentId: string;
  readonly cmd: string;
  readonly requestId: string | undefined;
}

export interface ExecEvents {
  readonly head: string;
  readonly content: string;
  readonly done: string;
}

/** The data of each event. */
export function describeOutcome(subject: ExecSubject, outcome: CommandOutcome): ExecEvents {
  const label = labelOf(subject.cmd);
  const { ok, code, topic, meta } = outcome;
  const head: ExecHead = {
    ok,
    code: ok ? null : (code ?? 'UNKNOWN'),
    cmd: label,
    request_id: subject.requestId ?? null,
    agent_id: subject.agentId,
    topic: topic.name,
    topic_type: topic.type,
    meta: meta === null ? null : { ...meta },
  };
  const mark = subject.requestId === undefined ? '' : `[${subject.requestId}] `;
  return {
    head: JSON.stringify(head),
    content: JSON.stringify(`re: ${mark}${label}\n${renderPlain(outcome)}`),
    done: '{}',
  };
}

/** All of it at once. JSON has no line breaks of its own, so each event has one line of data. */
export function encodeOutcome({ head, content, done }: ExecEvents): string {
  return `event: head\ndata: ${head}\n\nevent: content\ndata: ${content}\n\nevent: done\ndata: ${done}\n\n`;
}

/** The first line, cut where it is too long, but never inside a character. */
export function labelOf(cmd: string): string {
  const [line = ''] = cmd.trim().split(/\r\n|\r|\n/, 1);
  if (line.length <= MAX_LABEL_CHARS) return line;
  const cut = line.slice(0, MAX_LABEL_CHARS - ELLIPSIS.length);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}${ELLIPSIS}`;
}
