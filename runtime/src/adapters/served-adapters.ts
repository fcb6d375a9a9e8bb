// The adapters that this replica serves, each under a name of its own beside the model's, and who uses them. One that is
// removed is not found any more, and goes once the last request that uses it has ended.

import type { UsedAdapter } from '../schedule/generation.js';

export interface ServedAdapter {
  readonly name: string;
  /** What it was loaded from, as it was asked for. */
  readonly uri: string;
  readonly used: UsedAdapter;
}

/** How many requests use which adapter. */
interface Entry extends ServedAdapter {
  users: number;
  /** Set once it is removed. */
  whenFree: (() => void) | null;
}

export class ServedAdapters {
  readonly #served = new Map<string, Entry>();
  readonly #numbers = new Set<number>();
  #loads = 0;

  has(name: string): boolean {
    return this.#served.has(name);
  }

  get(name: string): ServedAdapter | null {
    return this.#served.get(name) ?? null;
  }

  get all(): readonly ServedAdapter[] {
    return [...this.#served.values()];
  }

  /** Names of those that requests use. */
  get inUse(): readonly string[] {
    return this.all.filter(({ name }) => (this.#served.get(name)?.users ?? 0) > 0).map(({ name }) => name);
  }

  /** A number for an adapter that is to be loaded; null: `max` are there, those that leave among them. */
  reserve(name: string, max: number): UsedAdapter | null {
    for (let number = 1; number <= max; number++) {
      if (this.#numbers.has(number)) continue;
      this.#numbers.add(number);
      this.#loads++;
      return { number, key: `${name} ${String(this.#loads)}` };
    }
    return null;
  }

  /** A number that nothing is loaded under any more. */
  release({ number }: UsedAdapter): void {
    this.#numbers.delete(number);
  }

  serve(adapter: ServedAdapter): void {
    this.#served.set(adapter.name, { ...adapter, users: 0, whenFree: null });
  }

  /**
   * The adapter that a request for the model `name` uses until it calls `leave`; null: it is no adapter's.
   */
  enter(name: string): { readonly used: UsedAdapter; readonly leave: () => void } | null {
    const entry = this.#served.get(name);
    if (entry === undefined) return null;
    entry.users++;
    const leave = (): void => {
      entry.users--;
      if (entry.users === 0) entry.whenFree?.();
    };
    return { used: entry.used, leave };
  }

  /** From now on it is not found; resolves once nobody uses it. False: there is none of the name. */
  async remove(name: string): Promise<boolean> {
    const entry = this.#served.get(name);
    if (entry === undefined) return false;
    this.#served.delete(name);
    if (entry.users > 0) await new Promise<void>((resolve) => (entry.whenFree = resolve));
    return true;
  }

  /** In the place of the one of its name; resolves once nobody uses that. */
  async replace(adapter: ServedAdapter): Promise<void> {
    const before = this.#served.get(adapter.name);
    this.serve(adapter);
    if (before !== undefined && before.users > 0)
      await new Promise<void>((resolve) => (before.whenFree = resolve));
  }

  /** The engine is gone, and all adapters with it. */
  clear(): void {
    this.#served.clear();
    this.#numbers.clear();
  }
}
