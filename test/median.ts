/** Of values that are there; the upper of the middle two. */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  if (middle === undefined) throw new Error('no values to take the median of');
  return middle;
}
