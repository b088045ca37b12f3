// A clause: one sentence a specification asks for, as data.

export interface Clause {
  /** What must hold, in our words. */
  readonly text: string;
  /** Where the specification says so. */
  readonly source: string;
  /** How a client may reach the server in this clause; every one of the suite's transports when absent. */
  readonly transports?: readonly Transport[];
  /** Why our own server does not meet it yet. Its tests must then fail; passing is reported as news. */
  readonly knownFailure?: string;
}

/** `cli`: through the command line of a client. */
export type Transport = 'stdio' | 'unix' | 'tcp' | 'http' | 'cli';
