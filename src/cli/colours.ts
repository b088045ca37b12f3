// Colours, where somebody sees them.

export interface Colours {
  readonly on: boolean;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly magenta: (text: string) => string;
  readonly cyan: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** NO_COLOR switches them off, FORCE_COLOR on; else a terminal has them. */
export function coloursFor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Colours {
  const no = env['NO_COLOR'] ?? '';
  const force = env['FORCE_COLOR'] ?? '';
  const on = no === '' && env['TERM'] !== 'dumb' && (stream.isTTY || (force !== '' && force !== '0'));
  const paint = (code: number) => (text: string) => (on ? `\u001b[${code}m${text}\u001b[0m` : text);
  return {
    on,
    red: paint(31),
    green: paint(32),
    yellow: paint(33),
    magenta: paint(35),
    cyan: paint(36),
    bold: paint(1),
    dim: paint(2),
  };
}

// oxlint-disable-next-line no-control-regex -- these are what must not reach a terminal from a stranger's file
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/** Several lines of which the same holds. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** For data on stdout: as it is for a program, printable where a person sees it. */
export function forReader(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return stream.isTTY ? printable(text) : text;
}

/** A name or line that cannot move a terminal's cursor or change its title. */
export function printable(text: string): string {
  return text.replace(CONTROL, (char) =>
    char === '\t' ? char : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
