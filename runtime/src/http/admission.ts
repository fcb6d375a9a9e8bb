// Bounds how many generations this replica holds, running and waiting; more are refused at once.

import { ApiError } from '../request/api-error.js';

export class Admission {
  private active = 0;

  /** @param limit generations that run at once, plus those that may wait */
  constructor(private readonly limit: number) {}

  get inFlight(): number {
    return this.active;
  }

  /**
   * Takes room for `count` generations; call the answer once to give it back.
   * @throws ApiError queue_full, or invalid_request where so many never have room
   */
  enter(count: number): () => void {
    if (count > this.limit) {
      const message = `the request asks for ${String(count)} answers at once; this replica takes at most ${String(this.limit)}`;
      throw ApiError.of('invalid_request', message);
    }
    if (this.active + count > this.limit) {
      const message = `${String(this.active)} generations are running or waiting, and the limit is ${String(this.limit)}`;
      throw ApiError.of('queue_full', message, { retryAfterSeconds: 1 });
    }
    this.active += count;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.active -= count;
    };
  }
}
