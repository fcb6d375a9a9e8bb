// Names that are set, innermost first.

import { Undefined, type Value } from './values.js';

export class Scope {
  readonly #values = new Map<string, Value>();

  constructor(private readonly outer: Scope | null = null) {}

  get(name: string): Value {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    return this.outer === null ? new Undefined(`'${name}' is undefined`, true) : this.outer.get(name);
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}
