// Byte ranges of a pull: which parts of a file are still to be fetched. Pure.

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

/** What `done` leaves of a file of `bytes`, cut into pieces of at most `pieceBytes`. */
export function missingRanges(bytes: number, done: readonly ByteRange[], pieceBytes: number): ByteRange[] {
  const missing: ByteRange[] = [];
  let at = 0;
  for (const [begin, end] of [...done, [bytes, bytes] as const]) {
    for (; at < begin; at = Math.min(begin, at + pieceBytes))
      missing.push([at, Math.min(begin, at + pieceBytes)]);
    at = Math.max(at, end);
  }
  return missing;
}
