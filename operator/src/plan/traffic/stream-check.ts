// Whether a public route keeps events back: what is asked, and the judgement by when the answer's events were sent and when
// they came.

/** One event of the answer. */
export interface Arrival {
  /** By the server's clock, from the first. */
  readonly sentMs: number;
  /** By ours. */
  readonly atMs: number;
}

export type StreamOutcome =
  | { readonly state: 'streams'; readonly minGapMs: number; readonly maxGapMs: number }
  /** @property heldMs by how much longer than the last one some event was under way */
  | { readonly state: 'buffered'; readonly heldMs: number }
  /** Nothing could be seen. */
  | { readonly state: 'failed'; readonly message: string };

/** Less than the server's 200 ms between two events, more than what a busy network or machine adds. */
const maxHeldMs = 150;

/** @param arrivals of one answer, in their order; two at least */
export function judgeArrivals(arrivals: readonly Arrival[]): StreamOutcome {
  const last = arrivals.at(-1);
  if (last === undefined || arrivals.length < 2) throw new Error('two events are needed to see a gap');
  // Clocks differ: only how long events were under way with the last one can be known.
  const held = arrivals.map(({ sentMs, atMs }) => atMs - last.atMs - (sentMs - last.sentMs));
  const heldMs = Math.round(Math.max(...held));
  if (heldMs >= maxHeldMs) return { state: 'buffered', heldMs };
  const gaps = arrivals.slice(1).map(({ atMs }, index) => atMs - (arrivals[index]?.atMs ?? atMs));
  return {
    state: 'streams',
    minGapMs: Math.round(Math.min(...gaps)),
    maxGapMs: Math.round(Math.max(...gaps)),
  };
}
