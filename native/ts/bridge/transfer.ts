// KV blocks, and snapshots of recurrent state, on their way from one engine to another.

import type { Int64 } from './numbers.js';

/** What an engine needs to know to send and fetch KV. */
export interface TransferOptions {
  /** There rank 0 listens, and rank r at so many more; null: this engine only fetches. */
  readonly port: number | null;
  /** What the engine cannot see itself of what its blocks mean: of two with another text neither fetches from the other. */
  readonly identity: string;
}

/** What becomes readable under a ticket until it is withdrawn: blocks whose tokens are all computed, and unchanged until then. */
export interface KvOffer {
  readonly ticket: string;
  readonly blocks: Int32Array;
  readonly snapshot: number | null;
}

/** Blocks that no sequence has, and a snapshot's place, to be filled from another engine's offer. */
export interface KvFetch {
  /** The caller's, of fetches that have not ended. */
  readonly id: number;
  readonly host: string;
  /** Where rank 0 of the other engine listens. */
  readonly port: number;
  readonly ticket: string;
  readonly blocks: Int32Array;
  readonly snapshot: number | null;
}

/**
 * `unreachable`: nobody answers there, or the connection broke; `unknownTicket`: no such offer, or not of so many blocks;
 * `layoutDiffers`: bytes of a block do not mean the same there; `corrupt`: what came is not what was sent; `timedOut`:
 * nothing came for too long.
 */
export type FetchFailure =
  'none' | 'unreachable' | 'unknownTicket' | 'layoutDiffers' | 'corrupt' | 'timedOut';

/** How far a fetch is, on all ranks. */
export interface FetchState {
  /** Its blocks are computed, or nothing that it filled may be used; either way it is forgotten. */
  readonly ended: boolean;
  readonly failure: FetchFailure;
  /** Why it failed; empty: it did not. */
  readonly message: string;
  readonly bytes: Int64;
  /** Tokens that the snapshot is the state of; null: without one. */
  readonly snapshotAt: number | null;
}
