// Requests that are complete in the same turn of the event loop go on together, one right after the other.
//
// Reading one request, answering it and waking its client before the next is read throws everybody's caches away each
// time: with many connections, doing each step for all of them first halves the CPU time of a short request.

let waiting: (() => void)[] = [];

/** Calls `resume` when all that has arrived by now has been read, with everybody else who waits for that. */
export function gather(resume: () => void): void {
  if (waiting.push(resume) === 1) setImmediate(resumeAll);
}

function resumeAll(): void {
  const all = waiting;
  waiting = [];
  for (const resume of all) resume();
}
