// Does something for every one of some items, again and again: a bounded number at once, no item twice at a time, and each
// in its own time. Those that were slow the last time share half of the places, so that they hold up only each other.

export interface PollerOptions<T> {
  readonly intervalMs: number;
  readonly maxAtOnce: number;
  /** Asked at every interval. */
  readonly items: () => readonly T[];
  readonly key: (item: T) => string;
  /** Never throws. */
  readonly each: (item: T) => Promise<void>;
  /** What takes longer is slow. */
  readonly slowMs?: number;
}

export class Poller<T> {
  private timer: NodeJS.Timeout | null = null;
  /** By key, in the order in which they came. */
  private readonly waiting = new Map<string, T>();
  private readonly active = new Map<string, Promise<void>>();
  private readonly slow = new Set<string>();

  constructor(private readonly options: PollerOptions<T>) {}

  start(): void {
    this.timer = setInterval(() => this.tick(), this.options.intervalMs);
  }

  /** Begins nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    this.waiting.clear();
    await Promise.all(this.active.values());
  }

  private tick(): void {
    const { items, key } = this.options;
    const wanted = new Map(items().map((item) => [key(item), item] as const));
    for (const each of this.slow) if (!wanted.has(each)) this.slow.delete(each);
    for (const each of this.waiting.keys()) if (!wanted.has(each)) this.waiting.delete(each);
    // What waits already keeps its place, as it is now.
    for (const [each, item] of wanted) if (!this.active.has(each)) this.waiting.set(each, item);
    this.next();
  }

  private next(): void {
    const { maxAtOnce } = this.options;
    const maxSlow = Math.max(1, Math.floor(maxAtOnce / 2));
    let slow = [...this.active.keys()].filter((each) => this.slow.has(each)).length;
    for (const [each, item] of this.waiting) {
      if (this.active.size >= maxAtOnce) return;
      const isSlow = this.slow.has(each);
      if (isSlow && slow >= maxSlow) continue;
      if (isSlow) slow += 1;
      this.waiting.delete(each);
      this.active.set(each, this.run(each, item));
    }
  }

  private async run(key: string, item: T): Promise<void> {
    const beganAt = performance.now();
    await this.options.each(item);
    if (performance.now() - beganAt > (this.options.slowMs ?? 1_000)) this.slow.add(key);
    else this.slow.delete(key);
    this.active.delete(key);
    this.next();
  }
}
