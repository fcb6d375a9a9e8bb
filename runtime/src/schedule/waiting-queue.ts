// Sequences that wait for room, in the order in which they are to begin. Fairness keys share the engine by tokens,
// however many requests each has waiting, and none starves; within a key its levels of priority share what it gets, and
// within a level it is first come, first served. What is too large for now may be set aside, where it keeps its turn. What an answer costs is guessed when it begins, and put right when it has
// ended.

import { FairFlows } from './fair-flows.js';
import type { Sequence } from './sequence.js';

interface Entry {
  readonly sequence: Sequence;
  /** Time at which it gives up. */
  readonly expiresAt: number;
}

/** Tokens that a sequence will come to have, as far as that can be known. */
type Guess = (sequence: Sequence) => number;

/** One key at one priority. */
class Level {
  entries: Entry[] = [];

  constructor(
    private readonly priority: number,
    private readonly guess: Guess,
  ) {}

  get isEmpty(): boolean {
    return this.entries.length === 0;
  }

  /** Each level of priority has twice the weight of the next. */
  get cost(): number {
    const [first] = this.entries;
    return first === undefined ? 0 : this.guess(first.sequence) * 2 ** this.priority;
  }
}

/** One key, as urgent as the most urgent that it has waiting: to spread over priorities gains nothing. */
class Key {
  readonly levels: FairFlows<number, Level>;

  constructor(private readonly guess: Guess) {
    this.levels = new FairFlows((priority) => new Level(priority, guess));
  }

  get first(): Entry | undefined {
    return this.levels.first?.entries[0];
  }

  get head(): Sequence | null {
    return this.first?.sequence ?? null;
  }

  get isEmpty(): boolean {
    return this.levels.first === null;
  }

  /** What a token costs it. */
  get rate(): number {
    let maxUrgent = Infinity;
    for (const [priority] of this.levels) maxUrgent = Math.min(maxUrgent, priority);
    return 2 ** maxUrgent;
  }

  get cost(): number {
    return this.head === null ? 0 : this.guess(this.head) * this.rate;
  }
}

/** What a sequence that began was charged. */
interface Charge {
  readonly cost: number;
  readonly rate: number;
}

/** The mean length of answers forgets half of what it was in some twenty answers. */
const newestShare = 1 / 32;

export class WaitingQueue {
  /** They had begun before: the oldest first, in front of all others. */
  readonly #preempted: Sequence[] = [];
  /** Their turn has come, and there was no room for them. */
  #aside: Entry[] = [];
  readonly #keys = new FairFlows<string, Key>(() => new Key(this.#guess));
  readonly #charges = new WeakMap<Sequence, Charge>();
  #entries = 0;
  /** Tokens of answers that ended; as many as they may have while none has. */
  #meanAnswer = Infinity;
  /** No entry expires before. */
  #nextExpiry = Infinity;

  readonly #guess: Guess = ({ request, maxLength }) =>
    Math.min(maxLength, request.prompt.length + this.#meanAnswer);

  get length(): number {
    return this.#preempted.length + this.#aside.length + this.#entries;
  }

  /** The first of those that were set aside. */
  get aside(): Sequence | null {
    return this.#aside[0]?.sequence ?? null;
  }

  /** Whose turn it is, but for those that were set aside. */
  get head(): Sequence | null {
    return this.#preempted[0] ?? this.#keys.first?.head ?? null;
  }

  /** @param expiresAt on the caller's clock; Infinity: never */
  push(sequence: Sequence, expiresAt: number): void {
    const { fairnessKey, priority } = sequence.request;
    this.#keys.enter(fairnessKey, ({ levels }) =>
      levels.enter(priority, ({ entries }) => entries.push({ sequence, expiresAt })),
    );
    this.#entries++;
    this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt);
  }

  /** Takes back a sequence that had begun, one younger than those taken back after it. */
  putBack(sequence: Sequence): void {
    this.#preempted.unshift(sequence);
  }

  /** Takes out the head. */
  shift(): void {
    if (this.#preempted.shift() !== undefined) return;
    this.#keys.serve(({ head, rate, levels }) => {
      if (head !== null) this.#charges.set(head, { cost: this.#guess(head), rate });
      levels.serve(({ entries }) => entries.shift());
      this.#entries--;
    });
  }

  /** Sets the head aside: others begin before it. */
  setAside(): void {
    const [preempted] = this.#preempted;
    const entry =
      preempted === undefined ? this.#keys.first?.first : { sequence: preempted, expiresAt: Infinity };
    if (entry === undefined) return;
    this.shift();
    this.#aside.push(entry);
  }

  /** Takes out the first of those that were set aside. */
  shiftAside(): void {
    this.#aside.shift();
  }

  /** A sequence that began has ended: its key pays for the tokens that it came to have. */
  settle(sequence: Sequence): void {
    const charge = this.#charges.get(sequence);
    if (charge === undefined) return;
    const { request, length, generated } = sequence;
    this.#keys.correct(request.fairnessKey, (length - charge.cost) * charge.rate);
    if (request.pooling !== 'none') return;
    const known = Number.isFinite(this.#meanAnswer) ? this.#meanAnswer : generated.length;
    this.#meanAnswer = known + (generated.length - known) * newestShare;
  }

  /** Takes out a request, wherever it stands. False when it is not here. */
  remove(id: string): boolean {
    const index = this.#preempted.findIndex(({ request }) => request.id === id);
    const [preempted] = index === -1 ? [] : this.#preempted.splice(index, 1);
    if (preempted !== undefined) this.settle(preempted);
    return preempted !== undefined || this.#takeOut(({ sequence }) => sequence.request.id === id).length > 0;
  }

  /** Takes out what has waited too long; those that had begun are kept. */
  expire(now: number): Sequence[] {
    if (now < this.#nextExpiry) return [];
    const expired = this.#takeOut(({ expiresAt }) => expiresAt <= now);
    this.#nextExpiry = Infinity;
    for (const { expiresAt } of this.#aside) this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt);
    for (const [, { levels }] of this.#keys)
      for (const [, { entries }] of levels)
        for (const { expiresAt } of entries) this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt);
    return expired;
  }

  /** One that was set aside has left. What it was charged for was not served, unless it had begun before. */
  #refund(sequence: Sequence): void {
    const charge = this.#charges.get(sequence);
    if (sequence.started) this.settle(sequence);
    else if (charge !== undefined)
      this.#keys.correct(sequence.request.fairnessKey, -charge.cost * charge.rate);
  }

  #takeOut(isOut: (entry: Entry) => boolean): Sequence[] {
    const out = this.#aside.filter(isOut).map(({ sequence }) => sequence);
    this.#aside = this.#aside.filter((entry) => !isOut(entry));
    for (const sequence of out) this.#refund(sequence);
    for (const [name, { levels }] of this.#keys) {
      for (const [priority, level] of levels) {
        level.entries = level.entries.filter((entry) => {
          if (!isOut(entry)) return true;
          out.push(entry.sequence);
          this.#entries--;
          return false;
        });
        levels.left(priority);
      }
      this.#keys.left(name);
    }
    return out;
  }
}
