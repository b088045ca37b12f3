// Robust statistics: medians and quartiles, because a busy machine makes outliers and never the other way round.

export interface Summary {
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
  /** Median distance from the median. */
  readonly mad: number;
  readonly min: number;
  readonly max: number;
  readonly samples: number;
}

export interface Ratio {
  /** Ratio of the two medians: the figure that is judged. */
  readonly value: number;
  /** Quartiles of the ratios of paired rounds: what drifts over a run falls out of them. */
  readonly q1: number;
  readonly q3: number;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = sortFinite(values);
  const median = quantile(sorted, 0.5);
  return {
    median,
    q1: quantile(sorted, 0.25),
    q3: quantile(sorted, 0.75),
    mad: medianOf(sorted.map((value) => Math.abs(value - median))),
    min: sorted[0] as number,
    max: sorted.at(-1) as number,
    samples: sorted.length,
  };
}

export function medianOf(values: readonly number[]): number {
  return quantile(sortFinite(values), 0.5);
}

/** `ours[i]` and `limit[i]` were measured in the same round. Undefined when the limit is too small to be measured. */
export function pairedRatio(ours: readonly number[], limit: readonly number[]): Ratio | undefined {
  if (ours.length !== limit.length) throw new RangeError('rounds do not pair up');
  const below = medianOf(limit);
  const pairs = ours.map((value, i) => value / (limit[i] as number)).filter(Number.isFinite);
  if (below === 0 || pairs.length === 0) return undefined;
  const sorted = sortFinite(pairs);
  return { value: medianOf(ours) / below, q1: quantile(sorted, 0.25), q3: quantile(sorted, 0.75) };
}

/** Width of the middle half of the paired ratios, relative to the ratio: 0.1 means "give or take 5 %". */
export function noiseOf(ratio: Ratio): number {
  return ratio.value === 0 ? Number.POSITIVE_INFINITY : (ratio.q3 - ratio.q1) / ratio.value;
}

/** Linear interpolation between the two nearest ranks. `sorted` must not be empty. */
export function quantile(sorted: readonly number[], p: number): number {
  if (sorted.length === 0) throw new RangeError('no samples');
  const at = (sorted.length - 1) * p;
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

function sortFinite(values: readonly number[]): number[] {
  if (!values.every(Number.isFinite)) throw new RangeError('a sample is not a finite number');
  return values.toSorted((a, b) => a - b);
}
