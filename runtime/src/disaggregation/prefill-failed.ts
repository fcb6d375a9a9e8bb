// Why a prompt was computed where it was asked for, though another pod was to compute it.

import type { TransferFailure } from '../schedule/kv-transfer.js';

/**
 * `noPod`: none is known, or all failed just now; `busy`: it takes no more; `refused`: it does not compute this one;
 * `noRoom`: running sequences need the blocks here; `nothing`: it had no more of the prompt than there is here; `badAnswer`:
 * what it said contradicts what it was asked. The others are those of transfers, of asking too.
 */
export type FallbackReason =
  TransferFailure | 'noPod' | 'busy' | 'refused' | 'noRoom' | 'nothing' | 'badAnswer' | 'internal';

/** In the order in which they are reported. */
export const fallbackReasons: readonly FallbackReason[] = [
  ...(['noPod', 'unreachable', 'timedOut', 'busy', 'refused', 'layoutDiffers'] as const),
  ...(['badAnswer', 'nothing', 'noRoom', 'unknownTicket', 'corrupt', 'cancelled', 'internal'] as const),
];

export class PrefillFailed extends Error {
  override readonly name = 'PrefillFailed';

  constructor(
    readonly reason: FallbackReason,
    message: string,
  ) {
    super(message);
  }
}
