// Which runtime we are in. All that differs between the two lies in this folder.

/** The few things of Bun that we call. */
interface Bun {
  /** Its stream has a descriptor of its own: `fd` stays ours to close. */
  file(fd: number): { stream(): ReadableStream<Uint8Array>; writer(): BunSink };
  /** Throws when the program cannot be started. */
  spawn(options: {
    readonly cmd: readonly string[];
    readonly cwd?: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdio: readonly (number | 'ignore')[];
    /** In a session of its own. */
    readonly detached: boolean;
    readonly onExit: (child: unknown, code: number | null, signal: string | null) => void;
  }): BunChild;
}

export interface BunChild {
  readonly pid: number;
  unref(): void;
}

/** Promises where not all could be passed on at once. */
export interface BunSink {
  write(chunk: Uint8Array): number | Promise<number>;
  flush(): number | Promise<number>;
  end(): number | Promise<number>;
}

/** Undefined under Node. */
export const bun: Bun | undefined = (globalThis as { readonly Bun?: Bun }).Bun;
