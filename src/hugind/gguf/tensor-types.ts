// How many bytes a tensor takes: each type packs a block of numbers into some bytes.

/** By the number of the type: numbers in a block, bytes of a block. */
const BLOCKS: Readonly<Record<number, readonly [number, number]>> = {
  0: [1, 4], // F32
  1: [1, 2], // F16
  2: [32, 18], // Q4_0
  3: [32, 20], // Q4_1
  6: [32, 22], // Q5_0
  7: [32, 24], // Q5_1
  8: [32, 34], // Q8_0
  9: [32, 36], // Q8_1
  10: [256, 84], // Q2_K
  11: [256, 110], // Q3_K
  12: [256, 144], // Q4_K
  13: [256, 176], // Q5_K
  14: [256, 210], // Q6_K
  15: [256, 292], // Q8_K
  24: [1, 1], // I8
  25: [1, 2], // I16
  26: [1, 4], // I32
  27: [1, 8], // I64
  28: [1, 8], // F64
  30: [1, 2], // BF16
};

/** Undefined for a type that is newer than this table. */
export function bytesOfTensor(type: number, elements: number): number | undefined {
  const block = Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined;
  return block === undefined ? undefined : Math.ceil(elements / block[0]) * block[1];
}

/** Of one number in the cache of keys and values, by the name a config gives its type. */
export function bytesPerCached(type: string): number | undefined {
  const number = CACHE_TYPES[type.toLowerCase()];
  const block = number === undefined ? undefined : BLOCKS[number];
  return block === undefined ? undefined : block[1] / block[0];
}

const CACHE_TYPES: Readonly<Record<string, number>> = {
  f32: 0,
  f16: 1,
  bf16: 30,
  q4_0: 2,
  q4_1: 3,
  q5_0: 6,
  q5_1: 7,
  q8_0: 8,
};
