// Which runtime we are in. All that differs between the two lies in this folder.

/** The few things of Bun that we call. */
interface Bun {
  /** Its stream has a descriptor of its own: `fd` stays ours to close. */
  file(fd: number): { stream(): ReadableStream<Uint8Array>; writer(): BunSink };
}

/** Promises where not all could be passed on at once. */
export interface BunSink {
  write(chunk: Uint8Array): number | Promise<number>;
  flush(): number | Promise<number>;
  end(): number | Promise<number>;
}

/** Undefined under Node. */
export const bun: Bun | undefined = (globalThis as { readonly Bun?: Bun }).Bun;
