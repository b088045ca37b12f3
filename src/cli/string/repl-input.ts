// Lines of a prompt put together to commands: most are one line, some have a body.

/** Of one command; as much as the daemon takes in one request. */
export const MAX_COMMAND_CHARS = 10 * 1024 * 1024;

/** What may stand behind `<<`, quoted or not. */
const WORD = /^(['"]?)([A-Za-z_][\w-]*)\1$/u;

export type Pushed =
  /** A whole command. */
  | { readonly kind: 'command'; readonly text: string }
  /** It goes on: more lines are to come. */
  | { readonly kind: 'more' }
  | { readonly kind: 'too-large' };

/**
 * A line that ends by a backslash goes on in the next, and so does one that ends by `<<WORD`, until a line that is WORD.
 * For a shell all of it is its own syntax and is handed on as it was typed.
 */
export class CommandLines {
  #lines: string[] = [];
  #chars = 0;
  #end: string | undefined;

  /** Whether a command has begun and is not complete. */
  get isOpen(): boolean {
    return this.#lines.length > 0;
  }

  push(line: string, isShell: boolean): Pushed {
    this.#chars += line.length + 1;
    if (this.#chars > MAX_COMMAND_CHARS) {
      this.clear();
      return { kind: 'too-large' };
    }
    return this.#end === undefined ? this.#pushOpen(line, isShell) : this.#pushBody(line, this.#end, isShell);
  }

  /** The word that a body still waits for. */
  get awaited(): string | undefined {
    return this.#end;
  }

  /** What has been typed so far, when no more is to come. */
  end(): string | undefined {
    const text = this.isOpen ? this.#lines.join('\n') : undefined;
    this.clear();
    return text;
  }

  clear(): void {
    this.#lines = [];
    this.#chars = 0;
    this.#end = undefined;
  }

  #pushOpen(line: string, isShell: boolean): Pushed {
    const heredoc = findHeredoc(line, isShell);
    if (heredoc !== undefined && (isShell || this.isOpen || line.trimStart().startsWith('/'))) {
      this.#lines.push(isShell ? line : heredoc.before);
      this.#end = heredoc.word;
      return { kind: 'more' };
    }
    if (isContinued(line)) {
      this.#lines.push(isShell ? line : line.slice(0, -1));
      return { kind: 'more' };
    }
    this.#lines.push(line);
    return { kind: 'command', text: this.end() ?? '' };
  }

  #pushBody(line: string, end: string, isShell: boolean): Pushed {
    const isEnd = line.trim() === end;
    if (!isEnd || isShell) this.#lines.push(line);
    return isEnd ? { kind: 'command', text: this.end() ?? '' } : { kind: 'more' };
  }
}

/** `/write x.md <<END`: the body is what follows, up to a line that is END. */
function findHeredoc(line: string, isShell: boolean): { before: string; word: string } | undefined {
  const at = line.lastIndexOf('<<');
  if (at < 0) return undefined;
  const rest = line.slice(line[at + 2] === '-' ? at + 3 : at + 2);
  const word = WORD.exec(rest.trim())?.[2];
  const before = line.slice(0, at);
  if (word === undefined || before.endsWith('<') || !isBreak(before, isShell)) return undefined;
  return isShell && isQuotedOrComment(before) ? undefined : { before: before.trimEnd(), word };
}

/** `1<<x` is a number that is shifted. But a shell knows `cat<<END` as well, and people write it. */
function isBreak(before: string, isShell: boolean): boolean {
  let start = before.length;
  while (start > 0 && !isBlank(before[start - 1])) start -= 1;
  return start === before.length || (isShell && !before.includes('=', start));
}

/** Whether what follows is within quotes or behind a `#`, as far as this line tells. */
function isQuotedOrComment(before: string): boolean {
  let quote = '';
  for (let at = 0; at < before.length; at++) {
    const char = before[at] ?? '';
    if (char === '\\' && quote !== "'") at += 1;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '#' && (at === 0 || isBlank(before[at - 1]))) return true;
  }
  return quote !== '';
}

function isBlank(char: string | undefined): boolean {
  return char?.trim() === '';
}

/** An even number of them is a text that ends by backslashes. */
function isContinued(line: string): boolean {
  let end = line.length;
  while (line[end - 1] === '\\') end -= 1;
  return (line.length - end) % 2 === 1;
}
