// Who goes when: contenders take turns within each round, so that what the machine does meanwhile hits them alike.

/**
 * The order of round `round`. The first place rotates from round to round, and every second cycle runs backwards
 * (AB BA, BA AB, …), so that with three or more nobody always follows the same neighbour.
 */
export function orderOfRound<T>(contenders: readonly T[], round: number): T[] {
  const count = contenders.length;
  if (count === 0) return [];
  const first = round % count;
  const order = [...contenders.slice(first), ...contenders.slice(0, first)];
  return Math.floor(round / count) % 2 === 0 ? order : order.toReversed();
}
