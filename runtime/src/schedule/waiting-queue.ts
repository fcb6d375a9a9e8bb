// Sequences that wait for room, in the order in which they are to begin. Weighted fair queueing with a self-clocked
// virtual time (Golestani, INFOCOM 1994): a sequence is due when its flow, served at its weight, would have finished
// it. So keys share the engine by tokens, however many requests each has waiting, and none starves: what is due now
// stays due before whatever comes later at the same cost.

import type { Sequence } from './sequence.js';

/** One fairness key at one priority: first come, first served among its own. */
interface Flow {
  readonly name: string;
  /** Virtual time at which its last waiting sequence is due. */
  due: number;
  waiting: number;
}

interface Entry {
  readonly sequence: Sequence;
  readonly flow: Flow;
  readonly begin: number;
  readonly due: number;
  /** Time at which it gives up. */
  readonly expiresAt: number;
}

export class WaitingQueue {
  /** They had begun before: the oldest first, in front of all others. */
  readonly #preempted: Sequence[] = [];
  /** By `due`, and then by arrival. */
  readonly #entries: Entry[] = [];
  readonly #flows = new Map<string, Flow>();
  #virtualTime = 0;
  /** No entry expires before. */
  #nextExpiry = Infinity;

  get length(): number {
    return this.#preempted.length + this.#entries.length;
  }

  /** Whose turn it is. */
  get head(): Sequence | null {
    return this.#preempted[0] ?? this.#entries[0]?.sequence ?? null;
  }

  /** @param expiresAt on the caller's clock; Infinity: never */
  push(sequence: Sequence, expiresAt: number): void {
    const { fairnessKey, priority } = sequence.request;
    const flow = this.#flow(`${priority} ${fairnessKey}`);
    const begin = Math.max(this.#virtualTime, flow.due);
    // One level of priority is twice the weight; the cost is the tokens that the sequence may come to have.
    const due = begin + sequence.maxLength * 2 ** priority;
    flow.due = due;
    flow.waiting++;
    this.#entries.splice(this.#placeOf(due), 0, { sequence, flow, begin, due, expiresAt });
    this.#nextExpiry = Math.min(this.#nextExpiry, expiresAt);
  }

  /** Takes back a sequence that had begun, one younger than those taken back after it. */
  putBack(sequence: Sequence): void {
    this.#preempted.unshift(sequence);
  }

  /** Takes out the head. */
  shift(): void {
    if (this.#preempted.shift() !== undefined) return;
    const entry = this.#entries.shift();
    if (entry === undefined) return;
    this.#virtualTime = entry.due;
    this.#leave(entry);
  }

  /** Takes out a request, wherever it stands. False when it is not here. */
  remove(id: string): boolean {
    const preempted = this.#preempted.findIndex(({ request }) => request.id === id);
    if (preempted !== -1) this.#preempted.splice(preempted, 1);
    const index = this.#entries.findIndex(({ sequence }) => sequence.request.id === id);
    const [entry] = index === -1 ? [] : this.#entries.splice(index, 1);
    if (entry !== undefined) this.#leave(entry);
    return preempted !== -1 || entry !== undefined;
  }

  /** Takes out what has waited too long; those that had begun are kept. */
  expire(now: number): Sequence[] {
    if (now < this.#nextExpiry) return [];
    const expired = this.#entries.filter(({ expiresAt }) => expiresAt <= now).map(({ sequence }) => sequence);
    for (const { request } of expired) this.remove(request.id);
    this.#nextExpiry = this.#entries.reduce((least, { expiresAt }) => Math.min(least, expiresAt), Infinity);
    return expired;
  }

  #flow(name: string): Flow {
    const known = this.#flows.get(name);
    if (known !== undefined) return known;
    const flow = { name, due: 0, waiting: 0 };
    this.#flows.set(name, flow);
    return flow;
  }

  #leave({ flow, begin, due }: Entry): void {
    // The last of its flow that leaves without having been served costs it nothing.
    if (flow.due === due) flow.due = begin;
    if (--flow.waiting === 0) this.#flows.delete(flow.name);
  }

  /** Behind all that are due no later. */
  #placeOf(due: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.due ?? Infinity) <= due) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
