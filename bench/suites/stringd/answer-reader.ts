// Finds where each HTTP answer on a connection ends, by its length or its chunks, and looks at nothing else.

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const STATUS_AT = 9; // behind `HTTP/1.1 `

/** What an answer is told with: its status, and its bytes in case somebody has to look. */
type OnAnswer = (status: number, body: () => string) => void;

export class AnswerReader {
  readonly #onAnswer: OnAnswer;
  #held: Buffer | undefined;

  constructor(onAnswer: OnAnswer) {
    this.#onAnswer = onAnswer;
  }

  push(chunk: Buffer): void {
    let bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = undefined;
    while (bytes.length > 0) {
      const end = endOf(bytes);
      if (end === undefined) {
        this.#held = bytes;
        return;
      }
      const answer = bytes.subarray(0, end);
      bytes = bytes.subarray(end);
      this.#onAnswer(Number(answer.toString('latin1', STATUS_AT, STATUS_AT + 3)), () =>
        answer.toString('utf8'),
      );
    }
  }
}

/** Undefined as long as it is not all here. */
function endOf(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = bytes.toString('latin1', 0, headEnd + 2);
  const [, length] = /\r\ncontent-length: *(\d+)\r\n/i.exec(head) ?? [];
  if (length !== undefined) {
    const end = headEnd + HEAD_END.length + Number(length);
    return end <= bytes.length ? end : undefined;
  }
  if (!/\r\ntransfer-encoding: *chunked\r\n/i.test(head)) return headEnd + HEAD_END.length;
  // From the end of the head's last line: an answer without any chunk has its end right there.
  const last = bytes.indexOf(LAST_CHUNK, headEnd + 2);
  return last === -1 ? undefined : last + LAST_CHUNK.length;
}
