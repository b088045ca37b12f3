// Lines of a prompt put together to commands: most are one line, some have a body.

/** Of one command; as much as the daemon takes in one request. */
export const MAX_COMMAND_CHARS = 10 * 1024 * 1024;

/** `/write x.md <<END`: the body is what follows, up to a line that is END. */
const HEREDOC = /^(.*?)\s*<<-?\s*(['"]?)([A-Za-z_][\w-]*)\2\s*$/su;

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
    const heredoc = HEREDOC.exec(line);
    if (heredoc !== null && (isShell || this.isOpen || line.trimStart().startsWith('/'))) {
      const [, before = '', , word] = heredoc;
      this.#lines.push(isShell ? line : before);
      this.#end = word;
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

/** An even number of them is a text that ends by backslashes. */
function isContinued(line: string): boolean {
  return (/\\*$/u.exec(line)?.[0].length ?? 0) % 2 === 1;
}
