// Keys to work on: each at most once in the queue, never two workers on one key, failed keys back off by themselves.
// A key added while it is worked on is worked on again afterwards.

import { backoffMs, type BackoffLimits } from '@llmservice/crds';

export interface WorkQueueOptions {
  readonly concurrency: number;
  readonly backoff: BackoffLimits;
  /** What to do; gives the delay after which the key is due again, or null. A throw counts as a failure. */
  readonly work: (key: string) => Promise<number | null>;
  readonly onError: (key: string, error: unknown, delayMs: number) => void;
}

export class WorkQueue {
  /** Insertion order is the order of work. */
  private readonly waiting = new Set<string>();
  private readonly active = new Map<string, Promise<void>>();
  private readonly timers = new Map<string, { timer: NodeJS.Timeout; at: number }>();
  private readonly failures = new Map<string, number>();
  private stopped = false;

  constructor(private readonly options: WorkQueueOptions) {}

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.waiting.size;
  }

  add(key: string): void {
    if (this.stopped) return;
    this.waiting.add(key);
    this.pump();
  }

  /** Adds the key later; of several delays the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.stopped) return;
    // Not the time of day: one that is set meanwhile would make a late timer look like the earliest.
    const at = performance.now() + delayMs;
    const pending = this.timers.get(key);
    if (pending !== undefined && pending.at <= at) return;
    if (pending !== undefined) clearTimeout(pending.timer);
    const timer = setTimeout(() => {
      this.timers.delete(key);
      this.add(key);
    }, delayMs);
    this.timers.set(key, { timer, at });
  }

  /** Takes no more work and waits for what is under way. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.waiting.clear();
    for (const { timer } of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    await Promise.all(this.active.values());
  }

  private pump(): void {
    for (const key of this.waiting) {
      if (this.active.size >= this.options.concurrency) return;
      if (this.active.has(key)) continue;
      this.waiting.delete(key);
      this.active.set(key, this.run(key));
    }
  }

  private async run(key: string): Promise<void> {
    try {
      const delayMs = await this.options.work(key);
      this.failures.delete(key);
      if (delayMs !== null) this.addAfter(key, delayMs);
    } catch (error) {
      const failures = (this.failures.get(key) ?? 0) + 1;
      this.failures.set(key, failures);
      const delayMs = backoffMs(failures, this.options.backoff);
      this.options.onError(key, error, delayMs);
      this.addAfter(key, delayMs);
    } finally {
      this.active.delete(key);
      this.pump();
    }
  }
}
