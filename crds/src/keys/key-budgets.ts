// The budgets of all keys, by id: they outlive changes of the key file.

import type { ConfiguredKey } from '../read-key-file.js';
import { KeyBudget, type LimitRefusal } from './key-budget.js';
import type { Moment } from './moment.js';

export class KeyBudgets {
  readonly #budgets = new Map<string, { key: ConfiguredKey; readonly budget: KeyBudget }>();
  readonly #replicas: number;
  readonly #refused: (id: string, refusal: LimitRefusal) => Error;
  #restored: { readonly spent: ReadonlyMap<string, number>; readonly at: number } | null = null;

  /**
   * @param replicas that share each budget
   * @param refused is called for every request that a limit refuses, and gives what is thrown then
   */
  constructor(replicas: number, refused: (id: string, refusal: LimitRefusal) => Error) {
    this.#replicas = replicas;
    this.#refused = refused;
  }

  /**
   * To be called before a key's first request.
   * @param spent tokens by id that all replicas spent on the day of `at` before this process was
   * @param at Unix time in milliseconds
   */
  restore(spent: ReadonlyMap<string, number>, at: number): void {
    this.#restored = { spent, at };
  }

  of(key: ConfiguredKey, now: Moment): KeyBudget {
    const known = this.#budgets.get(key.id);
    if (known === undefined) return this.#open(key, now);
    if (known.key !== key) known.budget.configure(key, now);
    known.key = key;
    return known.budget;
  }

  #open(key: ConfiguredKey, now: Moment): KeyBudget {
    const budget = new KeyBudget(key, this.#replicas, now, (refusal) => this.#refused(key.id, refusal));
    this.#budgets.set(key.id, { key, budget });
    if (this.#restored !== null) {
      const { spent, at } = this.#restored;
      budget.spentOnDay((spent.get(key.id) ?? 0) / this.#replicas, at);
    }
    return budget;
  }
}
