// `ID`, or `TARGET ID`: how commands about a process are told which one.

import { UsageError } from '../flags.js';

export interface ProcessWords {
  readonly target: string | undefined;
  readonly ids: readonly [string, ...string[]];
}

/** What rexd calls a process. */
const ID = /^p_/;

export function readProcessWords(words: readonly string[], verb: string): ProcessWords {
  const [first, ...rest] = words;
  const target = first === undefined || ID.test(first) ? undefined : first;
  const [id, ...more] = target === undefined ? words : rest;
  const wrong = [id, ...more].find((each) => each !== undefined && !ID.test(each));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is no id of a process; "rex ps" shows them`);
  if (id === undefined)
    throw new UsageError(`which process? Write: rex ${verb} [TARGET] ID; "rex ps" shows them`);
  return { target, ids: [id, ...more] };
}
