// The budgets of all keys, by id: they outlive changes of the key file.

import type { ConfiguredKey } from '@llmservice/crds';
import { KeyBudget, type Limit } from './key-budget.js';

export class KeyBudgets {
  readonly #budgets = new Map<string, { key: ConfiguredKey; readonly budget: KeyBudget }>();
  readonly #replicas: number;
  readonly #refused: (id: string, limit: Limit) => void;
  #spentToday: ReadonlyMap<string, number> = new Map();

  /**
   * @param replicas that share each budget
   * @param refused is told of every request that a limit refuses
   */
  constructor(replicas: number, refused: (id: string, limit: Limit) => void) {
    this.#replicas = replicas;
    this.#refused = refused;
  }

  /** To be told before the first request: tokens by id that all replicas spent today before this process was. */
  restore(spentToday: ReadonlyMap<string, number>): void {
    this.#spentToday = spentToday;
  }

  /** @param now Unix time in milliseconds */
  of(key: ConfiguredKey, now: number): KeyBudget {
    const known = this.#budgets.get(key.id);
    if (known === undefined) return this.#open(key, now);
    if (known.key !== key) known.budget.configure(key, now);
    known.key = key;
    return known.budget;
  }

  #open(key: ConfiguredKey, now: number): KeyBudget {
    const budget = new KeyBudget(key, this.#replicas, now, (limit) => this.#refused(key.id, limit));
    this.#budgets.set(key.id, { key, budget });
    budget.spentToday((this.#spentToday.get(key.id) ?? 0) / this.#replicas, now);
    return budget;
  }
}
