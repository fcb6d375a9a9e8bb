// Byte ranges of a file that are on disk. Pure.

/** [begin, end) in bytes. */
export type ByteRange = readonly [begin: number, end: number];

/** Joins a range into a sorted list of disjoint ones. */
export function addRange(done: readonly ByteRange[], range: ByteRange): ByteRange[] {
  const sorted = [...done, range].sort((a, b) => a[0] - b[0]);
  const joined: ByteRange[] = [];
  for (const [begin, end] of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && begin <= last[1]) joined[joined.length - 1] = [last[0], Math.max(last[1], end)];
    else joined.push([begin, end]);
  }
  return joined;
}

export function countBytes(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, [begin, end]) => sum + end - begin, 0);
}
