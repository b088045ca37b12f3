// Finds the next byte that matters inside a JSON string, sixteen at a time, where the machine can do that.
//
// To be strict about strings every byte of them has to be looked at, and of long messages they are all there is. JavaScript
// looks at four bytes in the time this takes for sixty. It is forty instructions of WebAssembly, written out below, and it
// works on its own memory: the one block that all reads go to.

/** Position of the first quote, backslash or control character at `from` or behind it. There must be one. */
export type Seek = (from: number) => number;

const PAGE_BYTES = 64 * 1024;

/** As much of WebAssembly as is used here: our types are those of a language without it. */
interface Machine {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: { readonly f: Seek } };
}

/** Undefined where WebAssembly or its vector instructions are missing: then four bytes at a time have to do. */
export function seekingMemory(
  bytes: number,
): { readonly memory: ArrayBuffer; readonly seek: Seek } | undefined {
  try {
    // One page more than asked for, because sixteen bytes are read where fewer may be left.
    const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Machine }).WebAssembly;
    const memory = new Memory({ initial: Math.ceil(bytes / PAGE_BYTES) + 1 });
    const { exports } = new Instance(new Module(CODE), { e: { m: memory } });
    return { memory: memory.buffer, seek: exports.f };
  } catch {
    return undefined;
  }
}

const BODY = [
  ...[0x01, 0x02, 0x7b], // two vectors: the bytes, and which of them matter
  ...[0x03, 0x40], // loop
  ...[0x20, 0x00, 0xfd, 0x00, 0x00, 0x00, 0x22, 0x01], //   bytes = memory[from, from + 16)
  ...[0x41, 0x22, 0xfd, 0x0f, 0xfd, 0x23], //   bytes = '"'
  ...[0x20, 0x01, 0x41, 0xdc, 0x00, 0xfd, 0x0f, 0xfd, 0x23, 0xfd, 0x50], //   or bytes = '\'
  ...[0x20, 0x01, 0x41, 0x20, 0xfd, 0x0f, 0xfd, 0x26, 0xfd, 0x50], //   or bytes < 32
  ...[0x22, 0x02, 0xfd, 0x53, 0x45], //   none of them?
  ...[0x04, 0x40, 0x20, 0x00, 0x41, 0x10, 0x6a, 0x21, 0x00, 0x0c, 0x01, 0x0b], //   then from += 16, once more
  0x0b, // end of loop
  ...[0x20, 0x00, 0x20, 0x02, 0xfd, 0x64, 0x68, 0x6a, 0x0b], // from + the number of the first that matters
];

const CODE = new Uint8Array([
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x06, 0x01, 0x60, 0x01, 0x7f, 0x01, 0x7f], // type: (i32) -> i32
  ...[0x02, 0x08, 0x01, 0x01, 0x65, 0x01, 0x6d, 0x02, 0x00, 0x01], // import e.m, a memory
  ...[0x03, 0x02, 0x01, 0x00], // one function
  ...[0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00], // export it as f
  ...[0x0a, BODY.length + 2, 0x01, BODY.length, ...BODY],
]);
