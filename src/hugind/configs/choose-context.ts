// How long a context this machine can give to each sequence of a model, computed from the model's own header.

import { kvBytesPerToken, type ModelFacts } from '../gguf/model-facts.js';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
/** For the system, the engine's own buffers, and whatever else runs here. */
const DEFAULT_MARGIN_BYTES = 2 * GIB;
const SMALLEST_TOKENS = 2048;
const LARGEST_TOKENS = 262_144;

export interface ContextWish {
  readonly facts: ModelFacts;
  readonly modelBytes: number;
  readonly memoryBytes: number;
  readonly slots: number;
  /** By device, what is to stay free. */
  readonly marginMib: readonly number[];
  readonly asked: number | undefined;
}

export interface ChosenContext {
  /** Of each sequence. */
  readonly tokens: number;
  /** Of all sequences together. */
  readonly kvBytes: number;
  /** Whether model and caches leave the margin free. */
  readonly fits: boolean;
}

/** The largest power of two that fits, and that the model was trained for; the smallest, where none does. */
export function chooseContext(wish: ContextWish): ChosenContext {
  const { facts, modelBytes, memoryBytes, slots, marginMib, asked } = wish;
  const margin =
    marginMib.length === 0 ? DEFAULT_MARGIN_BYTES : marginMib.reduce((sum, each) => sum + each, 0) * MIB;
  const perToken = kvBytesPerToken(facts) * slots;
  const room = memoryBytes - modelBytes - margin;
  const longest = Math.min(facts.trainedContext ?? LARGEST_TOKENS, LARGEST_TOKENS);
  let tokens = asked ?? Math.min(SMALLEST_TOKENS, longest);
  if (asked === undefined) {
    for (let next = SMALLEST_TOKENS; next <= longest && next * perToken <= room; next *= 2) tokens = next;
    // The model's own length, where that is no power of two.
    if (tokens * 2 > longest && longest * perToken <= room) tokens = longest;
  }
  const kvBytes = tokens * perToken;
  return { tokens, kvBytes, fits: kvBytes <= room };
}
