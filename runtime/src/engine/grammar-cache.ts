// The last grammars, up to so many bytes, and the last refusals, for a while: one that cost much to refuse costs nothing
// when it is asked for again.

import type { Failure } from '@llmservice/crds';
import type { CompiledGrammar, GrammarKind } from '@llmservice/native';
import { createHash } from 'node:crypto';

export interface CacheLimits {
  readonly bytes: number;
  readonly refusals: number;
  readonly refusalMs: number;
}

export type Known =
  | { readonly kind: 'compiled'; readonly grammar: CompiledGrammar }
  | { readonly kind: 'refused'; readonly failure: Failure };

type Entry =
  | { readonly kind: 'compiled'; readonly grammar: CompiledGrammar; readonly bytes: number }
  | { readonly kind: 'refused'; readonly failure: Failure; readonly until: number };

/** What distinguishes grammars. */
export const grammarId = (kind: GrammarKind, text: string): string =>
  createHash('sha256').update(kind).update('\0').update(text).digest('base64');

export class GrammarCache {
  readonly #limits: CacheLimits;
  readonly #now: () => number;
  /** By `grammarId`, the one used last at the end. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #refusals = 0;

  /** @param now milliseconds */
  constructor(limits: CacheLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get(id: string): Known | null {
    const entry = this.#entries.get(id);
    if (entry === undefined) return null;
    if (entry.kind === 'refused' && entry.until <= this.#now()) {
      this.#delete(id, entry);
      return null;
    }
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  compiled(id: string, grammar: CompiledGrammar, bytes: number): void {
    this.#put(id, { kind: 'compiled', grammar, bytes });
  }

  refused(id: string, failure: Failure): void {
    this.#put(id, { kind: 'refused', failure, until: this.#now() + this.#limits.refusalMs });
  }

  #put(id: string, entry: Entry): void {
    const before = this.#entries.get(id);
    if (before !== undefined) this.#delete(id, before);
    this.#entries.set(id, entry);
    this.#count(entry, 1);
    for (const [oldest, each] of this.#entries) {
      const tooMany = {
        compiled: this.#bytes > this.#limits.bytes,
        refused: this.#refusals > this.#limits.refusals,
      };
      if (!tooMany.compiled && !tooMany.refused) return;
      if (tooMany[each.kind]) this.#delete(oldest, each);
    }
  }

  #delete(id: string, entry: Entry): void {
    this.#entries.delete(id);
    this.#count(entry, -1);
  }

  #count(entry: Entry, sign: 1 | -1): void {
    if (entry.kind === 'compiled') this.#bytes += sign * entry.bytes;
    else this.#refusals += sign;
  }
}
