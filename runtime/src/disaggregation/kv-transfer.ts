// What moves KV blocks and a snapshot of recurrent state from one engine to another, beside the steps of both.

export interface KvTransfer {
  /**
   * Equal on two engines exactly where the bytes of one's blocks mean the same on the other: model, digests of weights
   * where known, type of KV, block size, ranks, layers, layout of snapshots.
   */
  readonly layout: string;
  /** What these hold becomes readable under the ticket until it is withdrawn. The caller keeps them unchanged. */
  offer(ticket: string, blocks: readonly number[], snapshot: number | null): Promise<void>;
  withdraw(ticket: string): Promise<void>;
  /**
   * Fills as many blocks, and a snapshot slot, from another engine's offer. Once it has settled nothing writes to them.
   * @throws TransferFailed nothing that was filled may be used
   */
  fetch(
    from: OfferPlace,
    blocks: readonly number[],
    snapshot: number | null,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: number }>;
}

export interface OfferPlace {
  readonly host: string;
  readonly port: number;
  readonly ticket: string;
}

export type TransferFault = 'unreachable' | 'unknownTicket' | 'layoutDiffers' | 'corrupt' | 'timedOut';

/** A transfer that ended without what it was for. */
export class TransferFailed extends Error {
  override readonly name = 'TransferFailed';

  constructor(
    readonly reason: TransferFault,
    message: string,
  ) {
    super(message);
  }
}
