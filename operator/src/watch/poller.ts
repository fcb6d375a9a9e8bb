// Does something for every one of some items, again and again: one round at a time, in each a bounded number at once.

export interface PollerOptions<T> {
  readonly intervalMs: number;
  readonly mostAtOnce: number;
  /** Of one round. */
  readonly items: () => readonly T[];
  /** Never throws. */
  readonly each: (item: T) => Promise<void>;
}

export class Poller<T> {
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;
  private round: Promise<void> | null = null;

  constructor(private readonly options: PollerOptions<T>) {}

  start(): void {
    this.timer = setInterval(() => {
      this.round ??= this.poll().finally(() => (this.round = null));
    }, this.options.intervalMs);
  }

  /** Begins nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer !== null) clearInterval(this.timer);
    await this.round;
  }

  private async poll(): Promise<void> {
    const { items, each, mostAtOnce } = this.options;
    const all = items();
    for (let first = 0; first < all.length && !this.stopped; first += mostAtOnce) {
      await Promise.all(all.slice(first, first + mostAtOnce).map(each));
    }
  }
}
