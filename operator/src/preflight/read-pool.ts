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
    const { total, perNamespace } = this.most;
    const running = [...this.running];
    if (running.length >= total) return null;
    const doubtful = running.filter((reader) => reader.doubtful);
    const counts = countsOf(running);
    const doubtfulCounts = countsOf(doubtful);
    let best: Waiter | null = null;
    let fewest = perNamespace;
    for (const waiter of this.waiting) {
      const { namespace } = waiter.reader;
      const count = counts.get(namespace) ?? 0;
      if (count >= fewest) continue;
      const hasPlace =
        !waiter.reader.doubtful ||
        (doubtful.length < total / 2 && (doubtfulCounts.get(namespace) ?? 0) < perNamespace / 2);
      if (!hasPlace) continue;
      best = waiter;
      fewest = count;
      if (count === 0) break;
    }
    return best;
  }
}

/** How many there are of each namespace. */
function countsOf(readers: readonly Reader[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { namespace } of readers) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  return counts;
}
