// Room for files, of all keys together and of each: a key may hold twice what it leaves free, so that one that stores much
// leaves room for others. What other pods store counts from the next count of the store on. Pure.

import { ApiError } from '../../request/body/api-error.js';

const shareOfFree = 2;
const retryAfterSeconds = 60;

export class FileRoom {
  #held = new Map<string, number>();
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** What is stored, by the folder of its owner. */
  counted(held: ReadonlyMap<string, number>): void {
    this.#held = new Map(held);
    this.#bytes = [...held.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * So many more bytes are to be stored.
   * @param isShared whether there are other owners
   * @throws ApiError server_busy, rate_limit_exceeded
   */
  take(folder: string, bytes: number, isShared: boolean): void {
    const free = this.maxBytes - this.#bytes;
    const held = this.#held.get(folder) ?? 0;
    if (bytes > free) {
      const message = `files take all of the ${String(this.maxBytes)} bytes that they may have here: delete those that nobody needs`;
      throw ApiError.of('server_busy', message, { retryAfterSeconds });
    }
    if (isShared && held > 0 && held + bytes > shareOfFree * (free - bytes)) {
      const message = `files of this API key take ${String(held)} bytes: what room is left is for other keys; delete those that nobody needs`;
      throw ApiError.of('rate_limit_exceeded', message, { retryAfterSeconds });
    }
    this.add(folder, bytes);
  }

  /** What is stored whether there is room or not, or, below 0, is no longer. */
  add(folder: string, bytes: number): void {
    this.#held.set(folder, (this.#held.get(folder) ?? 0) + bytes);
    this.#bytes += bytes;
  }
}
