// Places for requests that wait, so many per service and in all; those of one service leave in the order in which they
// came whole. A place is taken when a request begins, so that bodies under way count too.

import type { Room } from './read-body.js';

export interface QueueLimits {
  readonly perService: number;
  readonly total: number;
  /** Of bodies. */
  readonly bytesPerService: number;
  readonly totalBytes: number;
}

interface Line<T> {
  readonly waiting: T[];
  /** Those that wait, and those whose bodies are under way. */
  places: number;
}

export class HeldQueue<T> {
  private readonly lines = new Map<string, Line<T>>();
  private places = 0;
  private bytes = 0;
  /** Of each service; they may outlast its line. */
  private readonly bytesOf = new Map<string, number>();

  constructor(private readonly limits: QueueLimits) {}

  /** Places that are taken. */
  get size(): number {
    return this.places;
  }

  /** Services that somebody waits for. */
  get keys(): string[] {
    return [...this.lines.keys()];
  }

  /** Takes a place. @returns false where there is none */
  admit(key: string): boolean {
    const line = this.lines.get(key) ?? { waiting: [], places: 0 };
    if (line.places >= this.limits.perService || this.places >= this.limits.total) return false;
    this.lines.set(key, line);
    line.places += 1;
    this.places += 1;
    return true;
  }

  /** Room for the bodies of a service. */
  room(key: string): Room {
    return {
      takeBytes: (count) => {
        const { bytesPerService, totalBytes } = this.limits;
        const fits = this.bytes + count <= totalBytes && this.bytesIn(key) + count <= bytesPerService;
        if (fits) this.addBytes(key, count);
        return fits;
      },
      giveBytes: (count) => this.addBytes(key, -count),
    };
  }

  /** Puts who has a place at the end of the line. */
  join(key: string, item: T): void {
    this.lines.get(key)?.waiting.push(item);
  }

  /** The first in line, who stays there; null: nobody waits. */
  first(key: string): T | null {
    return this.lines.get(key)?.waiting[0] ?? null;
  }

  /** Takes out who waits. @returns false where that one does not wait (any more) */
  remove(key: string, item: T): boolean {
    const line = this.lines.get(key);
    const index = line?.waiting.indexOf(item) ?? -1;
    if (line === undefined || index < 0) return false;
    line.waiting.splice(index, 1);
    this.leave(key);
    return true;
  }

  /** Gives up a place; of one in line `remove` does it. */
  leave(key: string): void {
    const line = this.lines.get(key);
    if (line === undefined) return;
    line.places -= 1;
    this.places -= 1;
    if (line.places === 0) this.lines.delete(key);
  }

  private bytesIn(key: string): number {
    return this.bytesOf.get(key) ?? 0;
  }

  private addBytes(key: string, count: number): void {
    const bytes = this.bytesIn(key) + count;
    if (bytes === 0) this.bytesOf.delete(key);
    else this.bytesOf.set(key, bytes);
    this.bytes += count;
  }
}
