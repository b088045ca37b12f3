// What a model's header says about the memory that serving it takes.

import { GgufError } from './gguf-error.js';
import type { GgufHeader } from './read-header.js';
import { bytesPerCached } from './tensor-types.js';

/** Layers; the largest models have about a hundred and thirty. */
export const MAX_LAYERS = 4096;

export interface ModelFacts {
  readonly architecture: string;
  /** What it was trained on; undefined for a model that does not say. */
  readonly trainedContext: number | undefined;
  readonly layers: number;
  /** Numbers that are cached for each token, over all layers: keys and values. */
  readonly cachedKeys: number;
  readonly cachedValues: number;
}

/** Throws GgufError for a file without what every language model has. */
export function modelFacts({ metadata }: GgufHeader): ModelFacts {
  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string' || architecture === '')
    throw new GgufError('it does not say what architecture it is');
  const numberOf = (key: string): number | undefined => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
  };
  const layers = numberOf('block_count') ?? 0;
  if (layers > MAX_LAYERS) throw new GgufError(`it claims ${layers} layers`);
  const heads = numbersByLayer(metadata.get(`${architecture}.attention.head_count`), layers);
  const kvGiven = metadata.get(`${architecture}.attention.head_count_kv`);
  const kvHeads = kvGiven === undefined ? heads : numbersByLayer(kvGiven, layers);
  const width = numberOf('embedding_length') ?? 0;
  const perHead = width / Math.max(...heads, 1);
  const keyLength = numberOf('attention.key_length') ?? perHead;
  const valueLength = numberOf('attention.value_length') ?? perHead;
  const cachedHeads = kvHeads.reduce((sum, each) => sum + each, 0);
  return {
    architecture,
    trainedContext: numberOf('context_length'),
    layers,
    cachedKeys: cachedHeads * keyLength,
    cachedValues: cachedHeads * valueLength,
  };
}

/** Bytes that one token takes in the cache of one sequence. */
export function kvBytesPerToken(
  { cachedKeys, cachedValues }: ModelFacts,
  keyType = 'f16',
  valueType = 'f16',
): number {
  return Math.ceil(
    cachedKeys * (bytesPerCached(keyType) ?? 2) + cachedValues * (bytesPerCached(valueType) ?? 2),
  );
}

/** Some models have another number of heads in each layer. */
function numbersByLayer(value: unknown, layers: number): number[] {
  if (Array.isArray(value))
    return Array.from({ length: layers }, (_, i) => Math.max(Number(value[i] ?? 0), 0));
  return Array.from({ length: layers }, () => (typeof value === 'number' && value > 0 ? value : 0));
}
