// How long a look at something has to wait since the last one, for reasons that come one after another: several of them are
// then one look.

export class Pace {
  /** By key, by the monotonic clock. */
  private readonly nextAt = new Map<string, number>();

  constructor(private readonly pauseMs: number) {}

  /** A look begins. */
  begin(key: string): void {
    this.nextAt.set(key, performance.now() + this.pauseMs);
  }

  /** Until the next look is due. */
  leftMs(key: string): number {
    return Math.max(0, (this.nextAt.get(key) ?? 0) - performance.now());
  }

  forget(key: string): void {
    this.nextAt.delete(key);
  }
}
