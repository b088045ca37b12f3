// Where a run is, on stderr: one line that changes on a terminal, one line per step elsewhere.

export interface Progress {
  report(line: string): void;
  /** Leaves the terminal's line free for what is printed next. */
  clear(): void;
}

export function openProgress(out: { readonly isTTY?: boolean; write(text: string): unknown }): Progress {
  if (out.isTTY === true) {
    return {
      report: (line) => void out.write(`\r\u001B[K${line}`),
      clear: () => void out.write('\r\u001B[K'),
    };
  }
  let last = '';
  return {
    report(line) {
      const step = line.replace(/: (?:round .*|warming up)$/, ''); // a log needs no line per round
      if (step !== last) out.write(`${step}\n`);
      last = step;
    },
    clear() {},
  };
}
