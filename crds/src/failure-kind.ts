// What the table of failures says of each.

export interface FailureKind {
  /** A terminal failure cannot go away by itself: the operator stops the pods until something changes. */
  readonly terminal: boolean;
  /** HTTP status of a request that meets this failure. */
  readonly httpStatus: number;
  /** The first thing to try, in one sentence. */
  readonly remedy: string;
}
