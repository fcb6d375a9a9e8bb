// A set of rows as ranges, since rows that are done mostly follow each other. Pure.

/** `[from, to)`, in order, none touching the next. */
export type RowRanges = readonly (readonly [from: number, to: number])[];

export const hasRow = (ranges: RowRanges, row: number): boolean =>
  ranges.some(([from, to]) => from <= row && row < to);

export const countRows = (ranges: RowRanges): number =>
  ranges.reduce((sum, [from, to]) => sum + to - from, 0);

export function withRows(ranges: RowRanges, rows: readonly number[]): RowRanges {
  const all = [...ranges, ...rows.map((row) => [row, row + 1] as const)].sort(([a], [b]) => a - b);
  const joined: [from: number, to: number][] = [];
  for (const [from, to] of all) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
