// `--trace`: one line for every message that passes, on stderr or in a file.

import { createWriteStream, openSync, type WriteStream } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import type { TraceHook, TraceRecord } from '../../bus/trace.js';
import { UsageError } from '../flags.js';
import type { StderrWriter } from './stderr-writer.js';

/** What waits to be written; past it records are left out and counted: the trace must not slow the messages down. */
export const MAX_TRACE_BYTES = 16 * 1024 * 1024;

export interface Trace {
  readonly hook: TraceHook;
  close(): Promise<void>;
}

/** An empty name is stderr, which has its own way with what cannot be written. */
export function openTrace(file: string, format: 'text' | 'json', stderr: Pick<StderrWriter, 'write'>): Trace {
  if (file === '') {
    const say = format === 'text' ? sayRecord : asJson;
    return { hook: (record) => stderr.write(`${say(record)}\n`), close: () => Promise.resolve() };
  }
  const out = openFile(file);
  out.on('error', () => {}); // a full disk ends the trace, not the bus
  let left = 0;
  return {
    hook: (record) => {
      if (out.writableLength > MAX_TRACE_BYTES) {
        left += 1;
        return;
      }
      if (left > 0) out.write(`${JSON.stringify({ trace: 'left out', records: left })}\n`);
      left = 0;
      out.write(`${asJson(record)}\n`);
    },
    close: () => new Promise((resolve) => void out.end(() => resolve())),
  };
}

function openFile(file: string): WriteStream {
  try {
    return createWriteStream('', { fd: openSync(file, 'a', 0o600) });
  } catch (thrown) {
    throw new UsageError(`--trace: ${file} cannot be written (${errnoOf(thrown)})`);
  }
}

function asJson(record: TraceRecord): string {
  return JSON.stringify({ time: Date.now(), trace: 'message', ...record });
}

/** `trace: client 3 → worker 1 request tools/call id=7 160 B` */
function sayRecord({ from, to, kind, method, id, bytes, dropped }: TraceRecord): string {
  const words = [
    `trace: ${from} → ${to} ${kind}`,
    ...(method === undefined ? [] : [JSON.stringify(method)]),
    ...(id === undefined ? [] : [`id=${id}`]),
    `${bytes} B`,
    ...(dropped === undefined ? [] : [`dropped: ${dropped}`]),
  ];
  return words.join(' ');
}
