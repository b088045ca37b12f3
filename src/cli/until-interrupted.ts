// The end of a command that is interrupted or out of time: in order if that can be, and without it if not.

/** How long it may take to put things in order. Whoever presses Ctrl-C at a host that does not answer does not wait for it. */
const LEAVE_MS = 3000;

/** As the work ends; with the reason of the signal when that comes first. */
export async function untilInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const wait = (): void => {
      timer = setTimeout(() => reject(signal.reason as Error), LEAVE_MS);
    };
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } catch (thrown) {
    signal.throwIfAborted(); // what it fails with then is no more than a consequence
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}
