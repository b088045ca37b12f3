// Finds the next byte that matters inside a JSON string, sixteen at a time, where the machine can do that.
//
// To be strict about strings every byte of them has to be looked at, and of long messages they are all there is. This is a
// loop of WebAssembly, written out below, and it works on its own memory: the one block that all reads go to.

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
  '01027b', // two vectors: the bytes, and which of them matter
  '0340', // loop
  '2000fd0000002201', //   bytes = memory[from, from + 16)
  '4122fd0ffd23', //   bytes = '"'
  '200141dc00fd0ffd23fd50', //   or bytes = '\\'
  '20014120fd0ffd26fd50', //   or bytes < 32
  '2202fd5345', //   none of them?
  '0440200041106a21000c010b', //   then from += 16, and once more
  '0b', // end of loop
  '20002002fd64686a0b', // from + the number of the first that matters
].join('');

const CODE = Buffer.from(
  [
    '0061736d01000000',
    '01060160017f017f', // a type: (i32) -> i32
    '0208010165016d020001', // the memory is imported as e.m
    '03020100', // one function of that type
    '07050101660000', // exported as f
    `0a${byte(BODY.length / 2 + 2)}01${byte(BODY.length / 2)}${BODY}`,
  ].join(''),
  'hex',
);

function byte(value: number): string {
  return value.toString(16).padStart(2, '0');
}
