// What a terminal would show of a stream: lines that redraw themselves are one line, colours and cursor moves are gone.

/** Of a line that does not end: longer ones are handed on as they are, and can no longer be redrawn. */
export const MAX_LIVE_LINE_CHARS = 4096;
/** Of a command to the terminal that has not ended yet; a longer one is none. */
export const MAX_ESCAPE_CHARS = 4096;

const [ESC, BELL, BACK] = ['\\u001b', '\\u0007', '\\u0008'];
/** Of a title: no control characters, so that one nobody has ended does not swallow what comes after it. */
const INSIDE = '[^\\u0000-\\u001f]';
const SPECIAL = new RegExp(`[\\r${BACK}${ESC}]`, 'u');
const TOKEN = new RegExp(
  [
    '\\r+\\n|\\r|\\n',
    BACK,
    `${ESC}\\[([0-?]*)[ -/]*([@-~])`, // moves the cursor, erases, colours
    `${ESC}[\\]PX^_]${INSIDE}*(?:${BELL}|${ESC}\\\\)`, // titles and the like
    `${ESC}[ -/]*[0-OQ-WYZ\\\\\\u0060-~]`,
    `[^\\r\\n${BACK}${ESC}]+`,
  ].join('|'),
  'uy',
);
/** The beginning of a command, which the next piece may complete. */
const BEGUN = new RegExp(`^${ESC}(?:\\[[0-?]*[ -/]*|[\\]PX^_]${INSIDE}*${ESC}?|[ -/]*)$`, 'u');

export class ScreenText {
  #line = '';
  #at = 0;
  /** The beginning of something that may mean more with the next piece. */
  #held = '';

  /** The line that has not ended yet: often a prompt. */
  get pending(): string {
    return this.#line;
  }

  /** Whole lines, each with its end. */
  push(piece: string): string {
    const text = this.#held + piece;
    this.#held = '';
    const done =
      this.#at === this.#line.length && !SPECIAL.test(text) ? this.#plain(text) : this.#careful(text);
    if (this.#line.length <= MAX_LIVE_LINE_CHARS) return done;
    const long = this.#line;
    this.#clear();
    return done + long;
  }

  /** The rest, when nothing more comes. */
  end(): string {
    const rest = this.#line;
    this.#clear();
    this.#held = '';
    return rest;
  }

  #plain(text: string): string {
    const end = text.lastIndexOf('\n') + 1;
    const done = end === 0 ? '' : this.#line + text.slice(0, end);
    this.#line = end === 0 ? this.#line + text : text.slice(end);
    this.#at = this.#line.length;
    return done;
  }

  #careful(text: string): string {
    let done = '';
    TOKEN.lastIndex = 0;
    for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
      TOKEN.lastIndex = at;
      const match = TOKEN.exec(text);
      if (match === null) {
        const rest = text.slice(at);
        if (rest.length < MAX_ESCAPE_CHARS && BEGUN.test(rest)) {
          this.#held = rest;
          return done;
        }
        TOKEN.lastIndex = at + 1; // no command after all: what follows is text
        continue;
      }
      const [token, params = '', final] = match;
      if (token === '\r' && TOKEN.lastIndex === text.length) {
        this.#held = token; // with a line break behind it, it is the end of the line
        return done;
      }
      if (token.endsWith('\n')) {
        done += `${this.#line}\n`;
        this.#clear();
      } else this.#move(token, params, final);
    }
    return done;
  }

  #move(token: string, params: string, final: string | undefined): void {
    if (token === '\r') this.#at = 0;
    else if (token === '\b') this.#at = Math.max(0, this.#at - 1);
    else if (final === 'K') this.#erase(params);
    else if (final === 'G') this.#at = Math.min(this.#line.length, Math.max(0, Number(params) - 1 || 0));
    else if (!token.startsWith('\u001b')) {
      this.#line = this.#line.slice(0, this.#at) + token + this.#line.slice(this.#at + token.length);
      this.#at += token.length;
    }
  }

  #erase(params: string): void {
    if (params === '2') this.#line = ' '.repeat(this.#at);
    else if (params === '1') this.#line = ' '.repeat(this.#at) + this.#line.slice(this.#at);
    else this.#line = this.#line.slice(0, this.#at);
  }

  #clear(): void {
    this.#line = '';
    this.#at = 0;
  }
}
