// Pseudo-terminals under Bun: three calls of the system's own library, so a binary needs no add-on.

import { closeSync, constants, openSync } from 'node:fs';
import type { NativePty } from '../pty/native.js';

/** The same numbers on every processor that there is a binary for. */
const TIOCSPTLCK = 0x40045431;
const TIOCGPTN = 0x80045430;
const TIOCSWINSZ = 0x5414;

interface Ffi {
  dlopen(
    this: void,
    library: string,
    symbols: { readonly ioctl: { readonly args: readonly string[]; readonly returns: 'int' } },
  ): { readonly symbols: { ioctl(this: void, fd: number, request: number, memory: unknown): number } };
  ptr(this: void, memory: NodeJS.TypedArray): unknown;
}

export function openBunPty(): NativePty {
  const { dlopen, ptr } = process.getBuiltinModule('bun:ffi') as unknown as Ffi;
  const { ioctl } = dlopen('libc.so.6', { ioctl: { args: ['int', 'u64', 'ptr'], returns: 'int' } }).symbols;
  const call = (fd: number, request: number, memory: NodeJS.TypedArray): void => {
    if (ioctl(fd, request, ptr(memory)) !== 0) throw new Error(`ioctl ${request.toString(16)} failed`);
  };
  const resize = (master: number, cols: number, rows: number): void =>
    call(master, TIOCSWINSZ, new Uint16Array([rows, cols, 0, 0]));
  return {
    resize,
    open: (cols, rows) => {
      const master = openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
      try {
        const number = new Int32Array(1);
        call(master, TIOCSPTLCK, new Int32Array(1));
        call(master, TIOCGPTN, number);
        resize(master, cols, rows);
        const pty = `/dev/pts/${number[0]}`;
        return { master, slave: openSync(pty, constants.O_RDWR | constants.O_NOCTTY), pty };
      } catch (error) {
        closeSync(master);
        throw error;
      }
    },
  };
}
