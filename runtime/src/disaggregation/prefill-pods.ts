// Which prefill pod computes a prompt: by rendezvous hashing (Thaler and Ravishankar 1998) of its beginning, so that the
// turns of a conversation, and prompts that begin alike, find their prefix there. One that has more in flight than its share
// (consistent hashing with bounded loads, Mirrokni et al. 2016) comes after the others; one that failed is left alone for a
// while, then tried with one prompt.

import { createHash } from 'node:crypto';

/** Times its share that a pod may have in flight, of the prompts that this process asks for. */
const loadFactor = 1.25;

/** Milliseconds: after one failure, and after any number in a row. */
const backOffMs = 1_000;
const longestBackOffMs = 30_000;

interface PodState {
  inFlight: number;
  /** In a row. */
  failures: number;
  /** Until then it is left alone. */
  until: number;
}

export class PrefillPods {
  readonly #addresses: () => readonly string[];
  readonly #now: () => number;
  readonly #states = new Map<string, PodState>();

  /** @param addresses of the pods that there are now */
  constructor(addresses: () => readonly string[], now: () => number) {
    this.#addresses = addresses;
    this.#now = now;
  }

  /** Pods that may be asked, in the order in which to ask them. */
  inOrder(key: string): string[] {
    const addresses = this.#addresses();
    const states = new Map(addresses.map((pod) => [pod, this.#state(pod)]));
    const asked = [...states.values()].reduce((sum, { inFlight }) => sum + inFlight, 0);
    const share = Math.ceil((loadFactor * (asked + 1)) / addresses.length);
    const now = this.#now();
    const isFull = (pod: string): boolean => (states.get(pod)?.inFlight ?? 0) >= share;
    return addresses
      .filter((pod) => mayBeAsked(states.get(pod), now))
      .map((pod) => ({ pod, score: scoreOf(pod, key) }))
      .sort((a, b) => Number(isFull(a.pod)) - Number(isFull(b.pod)) || (a.score < b.score ? 1 : -1))
      .map(({ pod }) => pod);
  }

  /** The pod has a prompt more; call what is returned once, with how it went. */
  begin(pod: string): (outcome: 'done' | 'failed' | 'left') => void {
    const state = this.#state(pod);
    state.inFlight++;
    return (outcome) => {
      state.inFlight--;
      if (outcome === 'done') state.failures = 0;
      if (outcome === 'failed')
        state.until = this.#now() + Math.min(longestBackOffMs, backOffMs * 2 ** state.failures++);
      this.#forgetOthers();
    };
  }

  /** Of pods that are gone nothing is kept. */
  #forgetOthers(): void {
    const known = new Set(this.#addresses());
    for (const [pod, { inFlight }] of this.#states)
      if (inFlight === 0 && !known.has(pod)) this.#states.delete(pod);
  }

  #state(pod: string): PodState {
    const known = this.#states.get(pod);
    if (known !== undefined) return known;
    const state = { inFlight: 0, failures: 0, until: 0 };
    this.#states.set(pod, state);
    return state;
  }
}

function mayBeAsked(state: PodState | undefined, now: number): boolean {
  if (state === undefined || state.failures === 0) return true;
  return now >= state.until && state.inFlight === 0;
}

function scoreOf(pod: string, key: string): string {
  return createHash('sha256').update(pod).update('\0').update(key).digest('hex');
}
