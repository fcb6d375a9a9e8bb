// What a plan comes to, as the status reports it: whether the checkpoint is known, whether it fits, and what stands in the way.

import type { MemoryPlan } from '@llmservice/checkpoint';
import type { Failure, Violation } from '@llmservice/crds';

export type Resolution =
  /** `note`: what is special about it; `ahead`: how far its weights are pulled before pods come. */
  | { readonly state: 'resolved'; readonly note?: string; readonly ahead?: string }
  /** On a claim, which pods alone can read; `found`: what is known of that, in a sentence. */
  | { readonly state: 'byPods'; readonly found: string }
  | { readonly state: 'invalid'; readonly violations: readonly Violation[] }
  | { readonly state: 'failed'; readonly failure: Failure }
  | { readonly state: 'unavailable'; readonly failure: Failure }
  /** Its first read has not ended: what an earlier one found of this generation still stands. */
  | { readonly state: 'reading'; readonly message: string };

export type Fit =
  | {
      readonly state: 'fits';
      readonly plan: MemoryPlan;
      readonly memoryBytes: number;
      readonly devices: number;
      /** Set where the plan is our engine's and another one serves. */
      readonly estimate?: true;
    }
  /** Nobody said how much memory a device has, or another engine takes it in ways that are not known. */
  | { readonly state: 'unmeasured'; readonly note?: string }
  | { readonly state: 'failed'; readonly failure: Failure }
  /** Nor is the checkpoint known but to the pods. */
  | { readonly state: 'byPods' }
  /** The checkpoint is not known. */
  | { readonly state: 'unresolved' };

/** Why nothing could be applied although the plan stands. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
  /** True: only a change of the spec or of the operator's installation helps. */
  readonly terminal: boolean;
  /** Nothing can hold pods: those that are there are left as they are. */
  readonly holdsNone?: true;
}
