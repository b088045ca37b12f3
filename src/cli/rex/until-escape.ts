// What is typed, until the sign to leave: Enter, "~", "." as with ssh, for when the other side does not answer any more.

const [CR, LF, TILDE, DOT] = [13, 10, 0x7e, 0x2e];

/** The sign itself is not passed on, and "~~" at the beginning of a line is one "~". */
export async function* untilEscape(
  source: AsyncIterable<Buffer>,
  onEscape: () => void,
): AsyncGenerator<Buffer, void> {
  let state: 'line-start' | 'tilde' | 'within' = 'line-start';
  for await (const chunk of source) {
    const passed: number[] = [];
    for (const byte of chunk) {
      if (state === 'tilde' && byte === DOT) {
        if (passed.length > 0) yield Buffer.from(passed);
        onEscape();
        return;
      }
      if (state === 'line-start' && byte === TILDE) {
        state = 'tilde';
        continue;
      }
      if (state === 'tilde' && byte !== TILDE) passed.push(TILDE);
      passed.push(byte);
      state = byte === CR || byte === LF ? 'line-start' : 'within';
    }
    if (passed.length > 0) yield Buffer.from(passed);
  }
}
