// A piece of output as the line of its event: UTF-8 where it is, base64 where it is not.

import { isUtf8 } from 'node:buffer';
import { escapeInto, MAX_ESCAPED_RATIO } from '../../wire/jsonrpc/json-string.js';

/** The parts of an event's line that do not change from one piece to the next. */
export class OutputFramer {
  readonly #head: string;
  #seq = 0;

  /** `ids` are the fields that say whose output it is. */
  constructor(method: string, ids: Readonly<Record<string, string>>) {
    this.#head = `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${JSON.stringify(ids).slice(0, -1)},"seq":`;
  }

  /** The next event of the stream, one line with its newline, until the next call. `seq` counts from 1. */
  frame(bytes: Uint8Array): Uint8Array {
    this.#seq += 1;
    return isUtf8(bytes) ? this.#textFrame(bytes) : this.#base64Frame(bytes);
  }

  #textFrame(bytes: Uint8Array): Uint8Array {
    const head = `${this.#head}${this.#seq},"encoding":"utf8","data":"`;
    const line = scratchFor(head.length + bytes.length * MAX_ESCAPED_RATIO + TAIL.length);
    const end = escapeInto(bytes, line, line.write(head, 0, 'latin1'));
    return line.subarray(0, end + line.write(TAIL, end, 'latin1'));
  }

  #base64Frame(bytes: Uint8Array): Uint8Array {
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
    return Buffer.from(`${this.#head}${this.#seq},"encoding":"base64","data":"${data}${TAIL}`, 'latin1');
  }
}

const TAIL = '"}}\n';

let scratch = Buffer.alloc(0);

/** Room for the worst case, used again and again: what has to wait is copied by whoever sends it. */
function scratchFor(bytes: number): Buffer {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(bytes);
  return scratch;
}
