// The room for bodies that a router keeps. A key has a quarter of it, so that one client whose uploads never end leaves room
// for the others.

import type { BodyPace, ConfiguredKey } from '@llmservice/crds';
import type { Room } from '../activator/read-body.js';

export interface BodyLimits {
  /** Of one body. */
  readonly bodyBytes: number;
  /** Of all that are kept. */
  readonly totalBytes: number;
  readonly slowest: BodyPace;
}

export class KeptBytes {
  private total = 0;
  private readonly byKey = new Map<string, number>();

  constructor(private readonly limits: BodyLimits) {}

  /** @param key null: keys are not asked for, and nobody has a share */
  roomOf(key: Pick<ConfiguredKey, 'id'> | null): Room {
    return {
      takeBytes: (count) => {
        if (this.total + count > this.limits.totalBytes) return false;
        if (key !== null && this.of(key.id) + count > this.share) return false;
        this.add(key, count);
        return true;
      },
      giveBytes: (count) => this.add(key, -count),
    };
  }

  /** One body has room in any case. */
  private get share(): number {
    return Math.max(this.limits.bodyBytes, this.limits.totalBytes / 4);
  }

  private of(id: string): number {
    return this.byKey.get(id) ?? 0;
  }

  private add(key: Pick<ConfiguredKey, 'id'> | null, count: number): void {
    this.total += count;
    if (key === null) return;
    const kept = this.of(key.id) + count;
    // Keys that are withdrawn leave nothing.
    if (kept === 0) this.byKey.delete(key.id);
    else this.byKey.set(key.id, kept);
  }
}
