// What the preflight finds of a checkpoint, and what planners take from it.

import type { ModelShape, ResidentWeights } from '@llmservice/checkpoint';
import type { Failure } from '@llmservice/crds';

/** What a memory plan is made from. */
export interface PlannedCheckpoint {
  readonly shape: ModelShape;
  readonly weights: ResidentWeights;
}

export interface Pins {
  readonly model: string;
  /** Of the checkpoint that the head may come from; null: there is none. */
  readonly head: string | null;
}

export interface Checkpoint {
  /** Null: of an architecture that our engine lacks, for one that may have it. */
  readonly model: PlannedCheckpoint | null;
  /** What is special about it. */
  readonly note?: string;
  /** Packed weights where one rank holds all. */
  readonly weightBytes: number;
  /** Weight files as they lie in the bucket. */
  readonly fileBytes: number;
  /** Changes when any file that was read changes. */
  readonly fingerprint: string;
  /** The fingerprint that the first releases gave it, which read fewer files; absent: the same. */
  readonly firstFingerprint?: string;
  /** The one of the former release, which read some of these files; absent: the same. */
  readonly formerFingerprint?: string;
  /** What the pods' cache knows the files by; absent where there is none. */
  readonly pins?: Pins;
  /** Of the artifact's manifest, where it lies in a registry: sha256:HEX. */
  readonly imageDigest?: string;
  /** What is known of the claim that it lies on, where pods alone can read it. */
  readonly claim?: KnownClaim;
  /** Adapters that cannot be served beside it; absent: none. */
  readonly refusedAdapters?: readonly RefusedAdapter[];
}

export interface KnownClaim {
  readonly name: string;
  /** Its access modes keep pods on several nodes from mounting it. */
  readonly onePod: boolean;
  /** In a sentence. */
  readonly found: string;
}

/** One adapter of the spec, which keeps neither the model nor other adapters from being served. */
export interface RefusedAdapter {
  /** Its place in the list. */
  readonly at: number;
  readonly uri: string;
  readonly failure: Failure;
}

export type PreflightResult =
  | { readonly state: 'resolved'; readonly checkpoint: Checkpoint }
  | { readonly state: 'failed'; readonly failure: Failure }
  /** Nothing can be said now; `known` is what was found before, if anything. */
  | { readonly state: 'unavailable'; readonly failure: Failure; readonly known: Checkpoint | null };

export type PreflightState =
  | PreflightResult
  /** The first read has not ended, for a reason that is none of the endpoint's. */
  | { readonly state: 'reading'; readonly message: string };
