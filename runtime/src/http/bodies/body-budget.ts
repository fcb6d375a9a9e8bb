// The bytes of all bodies that the process holds, unpacked, each from its first byte to the end of its answer. Invariants:
// never more than the limit; a key leaves others a part, as in the admission; large bodies leave small ones a part. Where
// there is no room, bodies that hardly come are cut off first, the largest before the others, and then the newcomer is
// refused.

import { slowestBody, type BodyPace } from '@llmservice/crds';
import { ApiError } from '../../request/body/api-error.js';

/** With n keys that flood, each holds shareOfFree / (n x shareOfFree + 1) of the room. */
const shareOfFree = 2;
/** Chats are below it, and may use the part of the room that larger bodies may not. */
const smallBytes = 64 * 1024;
const partOfSmall = 1 / 8;
const retryAfterSeconds = 1;

export interface BodyPaces {
  /** What is slower is cut off. */
  readonly least: BodyPace;
  /** What is slower makes room for others where there is none. */
  readonly underPressure: BodyPace;
}

export const bodyPaces: BodyPaces = {
  least: slowestBody,
  underPressure: { windowMs: 1_000, bytesPerSecond: 16 * 1024 },
};

/** A body, for who reads it. */
export interface HeldBody {
  /** So many bytes came over the wire. */
  came(bytes: number): void;
  /** So many more bytes are to be held. @throws ApiError server_busy, rate_limit_exceeded */
  take(bytes: number): void;
  /** It is whole. */
  arrived(): void;
  /** Nothing of it is held any more. Idempotent. */
  release(): void;
}

interface Entry {
  readonly key: string | null;
  readonly paces: Readonly<Record<keyof BodyPaces, ArrivalPace>>;
  readonly cut: (reason: ApiError) => void;
  heldBytes: number;
}

export class BodyBudget {
  /** Of one body at most. */
  readonly largestBytes: number;
  readonly #limitBytes: number;
  readonly #now: () => number;
  readonly #paces: BodyPaces;
  readonly #arriving = new Set<Entry>();
  readonly #heldByKey = new Map<string, number>();
  #heldBytes = 0;

  /**
   * @param limitBytes of all bodies; where it is less than the largest body needs, what that needs
   * @param now monotonic, in milliseconds
   */
  constructor(limitBytes: number, largestBytes: number, now: () => number, paces = bodyPaces) {
    this.largestBytes = largestBytes;
    this.#limitBytes = Math.max(limitBytes, Math.ceil(largestBytes / (1 - partOfSmall)));
    this.#now = now;
    this.#paces = paces;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * A body begins to come.
   * @param key whose it is; null: nobody's in particular
   * @param cut is called once it is not waited for any more: it makes room, or comes too slowly
   */
  open(key: string | null, cut: (reason: ApiError) => void): HeldBody {
    const now = this.#now();
    const { least, underPressure } = this.#paces;
    const paces = {
      least: new ArrivalPace(least, now),
      underPressure: new ArrivalPace(underPressure, now),
    };
    const entry: Entry = { key, paces, cut, heldBytes: 0 };
    this.#arriving.add(entry);
    return {
      came: (bytes) => {
        for (const pace of Object.values(paces)) pace.came(bytes, this.#now());
      },
      take: (bytes) => this.#take(entry, bytes),
      arrived: () => void this.#arriving.delete(entry),
      release: () => this.#release(entry),
    };
  }

  /** Cuts off the bodies that hardly come. To be called again and again. */
  cutSlow(): void {
    const now = this.#now();
    for (const entry of this.#arriving) {
      if (!entry.paces.least.isSlow(now)) continue;
      const message = 'the body came too slowly: send the request again whole';
      this.#cut(entry, ApiError.of('request_timeout', message));
    }
  }

  /** Cuts off the largest of the bodies that come slowly; false: there is none. */
  makeRoom(): boolean {
    const now = this.#now();
    let largest: Entry | null = null;
    for (const entry of this.#arriving)
      if (entry.paces.underPressure.isSlow(now) && entry.heldBytes >= (largest?.heldBytes ?? 0))
        largest = entry;
    if (largest === null) return false;
    const message = 'the server has no room for bodies that come slowly now: send the request again whole';
    this.#cut(largest, ApiError.of('server_busy', message, { retryAfterSeconds }));
    return true;
  }

  #take(entry: Entry, bytes: number): void {
    while (!this.#hasRoom(entry, bytes)) if (!this.makeRoom()) throw noRoom();
    if (!this.#isShared(entry, bytes)) throw othersRoom(entry.key ?? '');
    this.#hold(entry, bytes);
  }

  #hasRoom({ heldBytes }: Entry, bytes: number): boolean {
    const part = heldBytes + bytes <= smallBytes ? 1 : 1 - partOfSmall;
    return this.#heldBytes + bytes <= part * this.#limitBytes;
  }

  /** Whether the key leaves enough to others. What it sends first is not refused for its own sake. */
  #isShared({ key, heldBytes }: Entry, bytes: number): boolean {
    const held = key === null ? 0 : (this.#heldByKey.get(key) ?? 0);
    const free = this.#limitBytes - this.#heldBytes;
    return held === heldBytes || held + bytes <= shareOfFree * (free - bytes);
  }

  #cut(entry: Entry, reason: ApiError): void {
    this.#release(entry);
    entry.cut(reason);
  }

  #release(entry: Entry): void {
    this.#arriving.delete(entry);
    this.#hold(entry, -entry.heldBytes);
  }

  #hold(entry: Entry, bytes: number): void {
    entry.heldBytes += bytes;
    this.#heldBytes += bytes;
    if (entry.key === null) return;
    const held = (this.#heldByKey.get(entry.key) ?? 0) + bytes;
    if (held === 0) this.#heldByKey.delete(entry.key);
    else this.#heldByKey.set(entry.key, held);
  }
}

/** How fast a body comes, judged by the last whole window of time: so that a burst at its beginning earns no rest afterwards. */
class ArrivalPace {
  readonly #least: BodyPace;
  readonly #begunAt: number;
  /** The window under way, counted from the body's beginning, and what came in it and in the one before. */
  #window = 0;
  #bytes = 0;
  #bytesBefore = 0;

  constructor(least: BodyPace, now: number) {
    this.#least = least;
    this.#begunAt = now;
  }

  came(bytes: number, now: number): void {
    this.#turn(now);
    this.#bytes += bytes;
  }

  isSlow(now: number): boolean {
    this.#turn(now);
    const { windowMs, bytesPerSecond } = this.#least;
    return this.#window > 0 && this.#bytesBefore * 1000 < bytesPerSecond * windowMs;
  }

  #turn(now: number): void {
    const window = Math.floor((now - this.#begunAt) / this.#least.windowMs);
    if (window === this.#window) return;
    this.#bytesBefore = window === this.#window + 1 ? this.#bytes : 0;
    this.#window = window;
    this.#bytes = 0;
  }
}

function noRoom(): ApiError {
  const message =
    'the bodies of requests that are under way use all the memory for bodies: send the request again';
  return ApiError.of('server_busy', message, { retryAfterSeconds });
}

function othersRoom(key: string): ApiError {
  const message = `the bodies of requests of the key ${key} use its part of the memory for bodies: what is left is for other keys`;
  return ApiError.of('rate_limit_exceeded', message, { retryAfterSeconds });
}
