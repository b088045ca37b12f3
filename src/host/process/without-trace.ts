// For calls that mostly end in an exception nobody reads: without a stack trace that costs a tenth.

export function withoutTrace<T>(call: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return call();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
