// Bounds how many generations this replica holds, running and waiting; more are refused at once. Between keys the room
// is shared by dynamic thresholds (Choudhury and Hahne, IEEE/ACM Transactions on Networking 1998): a key may hold a
// multiple of what is free, so that one that floods always leaves room for those that come later.

import { ApiError } from '../../request/body/api-error.js';

/** With n keys that flood, each holds shareOfFree / (n x shareOfFree + 1) of the room, and 1 part stays free. */
const shareOfFree = 8;
const retryAfterSeconds = 1;

export class Admission {
  private active = 0;
  private readonly heldBy = new Map<string, number>();

  /** @param limit generations that run at once, plus those that may wait */
  constructor(readonly limit: number) {}

  get inFlight(): number {
    return this.active;
  }

  /**
   * Takes room for `count` generations; call the answer once to give it back.
   * @param key whose they are; null: nobody's in particular
   * @throws ApiError queue_full, rate_limit_exceeded, or invalid_request where so many never have room
   */
  enter(count: number, key: string | null): () => void {
    this.requireRoom(count, key);
    this.take(count, key);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.take(-count, key);
    };
  }

  /** @throws ApiError as `enter` */
  requireRoom(count: number, key: string | null): void {
    if (count > this.limit) {
      const message = `the request asks for ${String(count)} answers at once; this replica takes at most ${String(this.limit)}`;
      throw ApiError.of('invalid_request', message);
    }
    const free = this.limit - this.active;
    const held = key === null ? 0 : (this.heldBy.get(key) ?? 0);
    const fits = count <= free;
    // What a key asks for at once is not refused for its own sake where it has nothing yet.
    if (fits && (held === 0 || held <= shareOfFree * (free - count))) return;
    throw fits ? this.othersRoom(held, String(key)) : this.noRoom();
  }

  private noRoom(): ApiError {
    const message = `${String(this.active)} generations are running or waiting, and the limit is ${String(this.limit)}`;
    return ApiError.of('queue_full', message, { retryAfterSeconds });
  }

  private othersRoom(held: number, key: string): ApiError {
    const message = `${String(held)} generations of the key ${key} are running or waiting: what room is left is for other keys`;
    return ApiError.of('rate_limit_exceeded', message, { retryAfterSeconds });
  }

  private take(count: number, key: string | null): void {
    this.active += count;
    if (key === null) return;
    const held = (this.heldBy.get(key) ?? 0) + count;
    if (held === 0) this.heldBy.delete(key);
    else this.heldBy.set(key, held);
  }
}
