// Escapes long texts sixteen bytes at a time, by a small program that the processor's wide registers are open to.

/** json-escape.wat, compiled: 275 bytes. */
export const PROGRAM =
  'AGFzbQEAAAABCAFgA39/fwF/AwIBAAUDAQACBxMCBm1lbW9yeQIABmVzY2FwZQAACuABAd0BAgF7A38CQANAIABBEGogAUsEQCAA' +
  'IAFPDQIgAC0AACEGIAZBIEkgBkEiRiAGQdwARnJyRQRAIAIgBjoAACACQQFqIQIgAEEBaiEADAILQQAhBQUgAP0ABAAhAyACIAP9' +
  'CwQAIANBIP0P/SYgA0Ei/Q/9IyADQdwA/Q/9I/1Q/VD9ZCEEIARFBEAgAEEQaiEAIAJBEGohAgwCCyAEaCEFIAAgBWotAAAhBgsg' +
  'ACAFakEBaiEAIAIgBWohAiACIAZBA3QpAwA3AwAgAkGACCAGai0AAGohAgwACwsgAgs=';

/** Escaped in one go: the program has room for no more. */
export const SIMD_SLICE_BYTES = 8192;
/** What is shorter is not worth the way there and back. */
export const SIMD_WORTH_BYTES = 1024;

const ESCAPES_AT = 0;
const LENGTHS_AT = 1024;
const INPUT_AT = 4096;
const OUTPUT_AT = INPUT_AT + SIMD_SLICE_BYTES;
const ASCII_CHARACTERS = 128;

/** Writes `bytes` into `target` from `at` on; gives the offset behind the last byte. At most SIMD_SLICE_BYTES at once. */
export type SimdEscape = (bytes: Uint8Array, target: Buffer, at: number) => number;

/** The little of WebAssembly that is needed here; not every setting of the runtime has it. */
interface Runtime {
  readonly WebAssembly?: {
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object) => { readonly exports: unknown };
  };
}

interface Program {
  readonly memory: { readonly buffer: ArrayBuffer };
  escape(from: number, end: number, at: number): number;
}

/** Undefined where the runtime or the processor has no such thing. */
export function openSimdEscape(runtime: Runtime = globalThis as Runtime): SimdEscape | undefined {
  const { WebAssembly } = runtime;
  if (WebAssembly === undefined) return undefined;
  let program: Program;
  try {
    const module = new WebAssembly.Module(Buffer.from(PROGRAM, 'base64'));
    program = new WebAssembly.Instance(module).exports as Program;
  } catch {
    return undefined;
  }
  const memory = Buffer.from(program.memory.buffer);
  for (let byte = 0; byte < ASCII_CHARACTERS; byte++) {
    const escaped = JSON.stringify(String.fromCharCode(byte)).slice(1, -1);
    memory[LENGTHS_AT + byte] = memory.write(escaped, ESCAPES_AT + byte * 8, 'latin1');
  }
  return (bytes, target, at) => {
    memory.set(bytes, INPUT_AT);
    const end = program.escape(INPUT_AT, INPUT_AT + bytes.length, OUTPUT_AT);
    return at + memory.copy(target, at, OUTPUT_AT, end);
  };
}
