// Flags and words of a call in any order: `hugind model add user/repo file.gguf --json`.

import { type Flags, parseFlags, type Usage } from '../flags.js';

/** Throws UsageError for flags that there are none of. */
export function readWords(usage: Usage, args: readonly string[]): { flags: Flags; words: readonly string[] } {
  const flags: string[] = [];
  const words: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      words.push(...args.slice(at + 1));
      break;
    }
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg);
      continue;
    }
    flags.push(arg);
    const name = /^--([^=]+)$/.exec(arg)?.[1] ?? '';
    const takesNext = Object.hasOwn(usage.flags, name) && usage.flags[name]?.value !== undefined;
    const next = args[at + 1];
    if (takesNext && next !== undefined && !next.startsWith('-')) {
      flags.push(next);
      at += 1;
    }
  }
  return { flags: parseFlags(usage, flags), words };
}
