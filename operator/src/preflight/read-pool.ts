// Turns for reading from endpoints that belong to the services: a bounded number at once, of each namespace a few, so
// that no tenant's endpoints keep the services of others waiting.

export interface Reader {
  readonly namespace: string;
  /** Its endpoint did not answer the last time: such readers take half of the places at most. */
  readonly doubtful: boolean;
}

interface Waiter {
  readonly reader: Reader;
  readonly begin: () => void;
}

export class ReadPool {
  private readonly waiting = new Set<Waiter>();
  private readonly running = new Set<Reader>();

  constructor(private readonly most: { readonly total: number; readonly perNamespace: number }) {}

  /** Does `work` once there is a place. @throws the signal's reason where it aborts before, and what `work` throws */
  async run<T>(reader: Reader, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    await this.place(reader, signal);
    try {
      return await work();
    } finally {
      this.running.delete(reader);
      this.admit();
    }
  }

  private place(reader: Reader, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting.delete(waiter);
        reject(signal.reason as Error);
      };
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiter = { reader, begin };
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.add(waiter);
      this.admit();
    });
  }

  private admit(): void {
    for (let next = this.next(); next !== null; next = this.next()) {
      this.waiting.delete(next);
      this.running.add(next.reader);
      next.begin();
    }
  }

  /** Of those with a place the first of a namespace with the fewest. */
  private next(): Waiter | null {
    let best: Waiter | null = null;
    let fewest = Infinity;
    for (const waiter of this.waiting) {
      const { namespace } = waiter.reader;
      const count = this.countOf(namespace);
      if (count >= fewest || !this.hasPlace(waiter.reader)) continue;
      best = waiter;
      fewest = count;
    }
    return best;
  }

  private countOf(namespace: string): number {
    return [...this.running].filter((reader) => reader.namespace === namespace).length;
  }

  private hasPlace({ namespace, doubtful }: Reader): boolean {
    const { total, perNamespace } = this.most;
    const fits = (readers: readonly Reader[], share: number): boolean =>
      readers.length < total * share &&
      readers.filter((reader) => reader.namespace === namespace).length < perNamespace * share;
    const running = [...this.running];
    return (
      fits(running, 1) &&
      (!doubtful ||
        fits(
          running.filter((reader) => reader.doubtful),
          0.5,
        ))
    );
  }
}
