// `ID`, or `TARGET ID`: how commands about a process are told which one.

import { RpcError } from '../../base/errors.js';
import { FailedError } from '../failed-error.js';
import { UsageError } from '../flags.js';

export interface ProcessWords {
  readonly target: string | undefined;
  readonly ids: readonly [string, ...string[]];
}

/** What rexd calls a process. */
const ID = /^p_/;
const PROCESS_NOT_FOUND = -32005;

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

/** What a target says of a process that is not its own, in the words of somebody who has several targets. */
export function explainProcess(id: string): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof RpcError) || thrown.code !== PROCESS_NOT_FOUND) throw thrown;
    throw new FailedError(
      `there is no process ${id} on this target`,
      'See: rex ps [TARGET]; one of another target is named with -t TARGET.',
    );
  };
}
