// GGUF files for tests, byte by byte: headers that are right, and headers that are not.

export type GgufEntry = readonly [
  key: string,
  type: 'u32' | 'f32' | 'text' | 'texts' | 'u32s',
  value: unknown,
];

const TYPES = { u32: 4, f32: 6, text: 8, array: 9 } as const;

/** A header with these entries and one tensor of four numbers. */
export function makeGguf(entries: readonly GgufEntry[], tensorBytes = 16): Buffer {
  const parts = [Buffer.from('GGUF'), u32(3), u64(1), u64(entries.length)];
  for (const [key, type, value] of entries) {
    parts.push(text(key));
    if (type === 'texts' || type === 'u32s') {
      const members = value as readonly unknown[];
      parts.push(u32(TYPES.array), u32(type === 'texts' ? TYPES.text : TYPES.u32), u64(members.length));
      parts.push(...members.map((each) => (type === 'texts' ? text(String(each)) : u32(Number(each)))));
    } else {
      parts.push(u32(TYPES[type]));
      parts.push(
        type === 'text' ? text(String(value)) : type === 'u32' ? u32(Number(value)) : f32(Number(value)),
      );
    }
  }
  parts.push(text('token_embd.weight'), u32(1), u64(4), u32(0), u64(0));
  const header = Buffer.concat(parts);
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), Buffer.alloc(tensorBytes)]);
}

/** A llama of two layers: 4 heads of 16 numbers, 2 of them cached. */
export const TINY_LLAMA: readonly GgufEntry[] = [
  ['general.architecture', 'text', 'llama'],
  ['llama.context_length', 'u32', 4096],
  ['llama.embedding_length', 'u32', 64],
  ['llama.block_count', 'u32', 2],
  ['llama.attention.head_count', 'u32', 4],
  ['llama.attention.head_count_kv', 'u32', 2],
  ['tokenizer.ggml.tokens', 'texts', ['<s>', 'a', 'b']],
];

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

export function text(value: string): Buffer {
  return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
