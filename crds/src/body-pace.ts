// How fast the body of a request has to come, to replicas and to routers alike.

/** Of every window of this time. */
export interface BodyPace {
  readonly windowMs: number;
  readonly bytesPerSecond: number;
}

/** What is slower is cut off. Apache's is 500 bytes per second. */
export const slowestBody: BodyPace = { windowMs: 20_000, bytesPerSecond: 500 };
