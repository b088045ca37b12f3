// The lines that are typed into a shell to run a command and to be told of its end.

/** The shell's end of the pipe on which it tells us. High, so that the numbers people use stay theirs. */
export const CONTROL_FD = 200;
/** The kernel keeps no more of a line that is typed. */
export const MAX_TYPED_BYTES = 4000;

/**
 * Starts the shell itself: quiet terminal, the pipe out of the way, no settings of anybody. What is typed before the
 * terminal is quiet would be echoed, so it says when it is: line 0.
 */
export const START_SCRIPT = `stty -echo -echoctl -onlcr 2>/dev/null; printf 'p 0\\0' >&3; exec ${CONTROL_FD}>&3 3>&-; export PS1= PS2=; exec /bin/bash --norc --noprofile --noediting`;

export interface Report {
  /** Of this line: told at the next prompt, whatever became of the line. */
  readonly line: number;
  /** Only who was told it can say that a command has ended. */
  readonly nonce: string;
  /** Printed on the terminal behind the output. */
  readonly mark: string;
}

/**
 * Runs a file in the shell itself, so that all it sets stays. The descriptor is closed meanwhile: what runs cannot reach
 * it. `$?` begins as the last command left it; by `||`, because under `set -e` a failure alone would end the shell.
 */
export function runLine(file: string, lastStatus: number, report: Report): string {
  const before = lastStatus === 0 ? '' : `${untraced(`(exit ${lastStatus})`)} || `;
  return `${promptHook(report.line)}; ${before}\\builtin . ${quote(file)} ${CONTROL_FD}>&-; ${tell(report)}\n`;
}

/**
 * For a shell that is at its prompt although nothing was told: Ctrl-C and some errors drop the rest of a line, or all of it,
 * so that the prompt has to be told anew which line it follows.
 */
export function askLine(report: Report): string {
  return `${tell(report)}; ${promptHook(report.line)}\n`;
}

/** The first line: no history, and the same report. */
export function helloLine(report: Report): string {
  return `\\builtin set +o history +H; ${promptHook(report.line)}; ${tell(report)}\n`;
}

function promptHook(line: number): string {
  const report = untraced(`\\builtin printf "p %s\\0" ${line} >&${CONTROL_FD}`);
  return untraced(`PS1= PS2= PROMPT_COMMAND='${report}'`);
}

function tell({ nonce, mark }: Report): string {
  return untraced(
    `\\builtin printf 'c %s %s %s\\0' ${nonce} "$?" "$PWD" >&${CONTROL_FD}; \\builtin printf '\\036%s\\036' ${mark} >/dev/tty`,
  );
}

/** What `set -x` says of our own lines is for nobody. A group keeps `$?`, before and after. */
function untraced(commands: string): string {
  return `{ ${commands}; } 2>/dev/null`;
}

/** What a shell under `set -v` says of its prompt. */
const PROMPT_ECHO = new RegExp(
  String.raw`^\{ \\builtin printf "p %s\\0" \d+ >&${CONTROL_FD}; \} 2>/dev/null\s*$`,
  'u',
);

/**
 * Takes out what a shell under `set -x` or `set -v` says of the lines that we have typed: the one command that cannot be
 * silenced without silencing the user's as well, and the lines themselves.
 */
export function withoutOwnLines(lines: string, file: string, nonce?: string): string {
  if (!lines.includes('builtin ')) return lines;
  const own = [`builtin . ${file}`, `builtin . ${quote(file)}`];
  const isOwn = (line: string): boolean =>
    (nonce !== undefined && line.includes(nonce)) ||
    PROMPT_ECHO.test(line) ||
    own.some((each) => line.trimEnd().endsWith(each));
  return lines
    .split(/(?<=\n)/u)
    .filter((line) => !isOwn(line))
    .join('');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
