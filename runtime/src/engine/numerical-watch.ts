// Counts numerical faults, and says when they look like the engine's own. A prompt that overflows, sent again and
// again, must cost nobody else anything; a layer that went bad must not answer a thousand requests with errors. So
// faults in a row are a suspicion only: the client then asks the engine questions of its own (probe-requests.ts).

import type { Failure } from '@llmservice/crds';
import type { NumericalFault } from '@llmservice/native';

/** Requests in a row that ended so, with none answered between them. */
const suspicious = 3;

/** Structured output that ends nowhere or takes too long is its request's own, and no fault of numbers. */
type FaultKind = Exclude<NumericalFault['kind'], 'deadEnd' | 'slowConstraint'>;

export type FaultCounts = Readonly<Record<FaultKind, number>>;

export class NumericalWatch {
  #counts: FaultCounts = { notFinite: 0, collapsed: 0, stuck: 0 };
  #inARow = 0;

  /** By kind, over all the processes that the engine has been. */
  get counts(): FaultCounts {
    return this.#counts;
  }

  /** A request ended by a numerical fault; true when the engine is to be checked. */
  faulted({ detail }: Failure): boolean {
    const kind = detail?.['kind'] as FaultKind;
    this.#counts = { ...this.#counts, [kind]: this.#counts[kind] + 1 };
    return ++this.#inARow % suspicious === 0;
  }

  /** A request, or the check, got its answer. */
  answered(): void {
    this.#inARow = 0;
  }
}
