// LoRA adapters as the engine is given them.

import type { Float32, Int64 } from './numbers.js';

/** The linear layers of attention and of a dense feed-forward, as checkpoints name them. */
export type Projection = 'q_proj' | 'k_proj' | 'v_proj' | 'o_proj' | 'gate_proj' | 'up_proj' | 'down_proj';

export type AdapterDtype = 'F32' | 'BF16' | 'F16';

/** What an adapter adds to a linear layer of (out, in): scale · B · A · x, with A (rank, in) and B (out, rank). */
export interface AdapterPair {
  readonly layer: number;
  readonly projection: Projection;
  readonly rank: number;
  readonly scale: Float32;
  readonly aDtype: AdapterDtype;
  /** Of A's data in the file. */
  readonly aOffset: Int64;
  readonly bDtype: AdapterDtype;
  readonly bOffset: Int64;
}

/** Some of an adapter's pairs. The adapter is there once its last part is. */
export interface AdapterPart {
  /** From 1 on, up to 256; of all parts the same. */
  readonly number: number;
  /** The file with the tensors: an absolute path. */
  readonly file: string;
  readonly pairs: readonly AdapterPair[];
  readonly last: boolean;
}
