// Named pipes under Bun, by a call of the system's own library: a program that makes them would have to be started.

import { bun } from './bun.js';

/** For us alone. */
const MODE = 0o600;

interface Ffi {
  dlopen(
    this: void,
    library: string,
    symbols: { readonly mkfifo: { readonly args: readonly string[]; readonly returns: 'int' } },
  ): { readonly symbols: { mkfifo(this: void, path: unknown, mode: number): number } };
  ptr(this: void, memory: NodeJS.TypedArray): unknown;
}

let ffi: { readonly ptr: Ffi['ptr']; readonly mkfifo: (path: unknown, mode: number) => number } | undefined;

/** Undefined under Node. False when some could not be made, or not for us to use: then somebody else has to make them. */
export function makeFifosByBun(names: readonly string[]): Promise<boolean> | undefined {
  if (bun === undefined) return undefined;
  if ((process.umask() & MODE) !== 0) return Promise.resolve(false);
  try {
    ffi ??= open();
    const { ptr, mkfifo } = ffi;
    return Promise.resolve(names.every((name) => mkfifo(ptr(Buffer.from(`${name}\0`)), MODE) === 0));
  } catch {
    return Promise.resolve(false);
  }
}

function open(): NonNullable<typeof ffi> {
  const { dlopen, ptr } = process.getBuiltinModule('bun:ffi') as unknown as Ffi;
  const { mkfifo } = dlopen('libc.so.6', { mkfifo: { args: ['ptr', 'u32'], returns: 'int' } }).symbols;
  return { ptr, mkfifo };
}
