// What `/open` is told: the target, which may have blanks in it, and options before it or behind it.

export interface OpenArguments {
  /** As it was written, quotes and all. */
  readonly target: string;
  /** Of `--lines A-B`; empty when nothing follows. */
  readonly lines?: string;
  /** Of `--tab NAME`; empty when nothing follows. */
  readonly tab?: string;
}

const OPTION = '--(lines|tab)(?:(?:\\s+|=)(\\S+))?';
const BEFORE = new RegExp(`^${OPTION}(?:\\s+|$)`, 'u');
const BEHIND = new RegExp(`(?:^|\\s)${OPTION}$`, 'u');

export function readOpenArguments(args: string): OpenArguments {
  let target = args.trim();
  const options: { lines?: string; tab?: string } = {};
  for (const form of [BEFORE, BEHIND]) {
    for (let found = form.exec(target); found !== null; found = form.exec(target)) {
      const [all, name, value = ''] = found;
      options[name as 'lines' | 'tab'] ??= value;
      target = (target.slice(0, found.index) + target.slice(found.index + all.length)).trim();
    }
  }
  return { target, ...options };
}
