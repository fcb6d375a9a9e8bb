// KV transfer: how KV blocks, and the snapshot of a hybrid model, come from the engine that computed a prompt to the one that
// answers it. An offer makes them readable under a ticket; a fetch fills blocks of this engine from another's offer.

/**
 * Why a fetch failed. `unreachable`: nobody answers there, or the connection broke. `unknownTicket`: no such offer, or not of so many
 * blocks. `layoutDiffers`: bytes of a block do not mean the same there. `corrupt`: what came is not what was sent. `timedOut`: nothing
 * came for too long. `cancelled`: by the caller's signal.
 */
export type TransferFailure =
  'unreachable' | 'unknownTicket' | 'layoutDiffers' | 'corrupt' | 'timedOut' | 'cancelled';

export class TransferFailed extends Error {
  readonly reason: TransferFailure;

  constructor(reason: TransferFailure, message: string) {
    super(message);
    this.name = 'TransferFailed';
    this.reason = reason;
  }
}

/** Another engine's offer. Rank r fetches from `port` + r. */
export interface OfferAddress {
  readonly host: string;
  readonly port: number;
  readonly ticket: string;
}

export interface FetchedKv {
  readonly bytes: number;
  /** Tokens that the snapshot is the state of, as the other engine has it; null: none was fetched. */
  readonly snapshotAt: number | null;
}

export interface KvTransfer {
  /**
   * Equal on two engines exactly where the bytes of one's blocks mean the same on the other: model, KV type, block size, ranks,
   * instruction family or device. Adapters are no part of it.
   */
  readonly layout: string;

  /**
   * What these blocks and the snapshot hold becomes readable under the ticket, on all ranks, until it is withdrawn. Their last step
   * has ended, and the caller keeps them unchanged. A ticket that is taken is replaced.
   */
  offer(ticket: string, blocks: readonly number[], snapshot: number | null): Promise<void>;

  /** When it resolves, nobody reads the offer any more. A ticket that is not there is no error. */
  withdraw(ticket: string): Promise<void>;

  /**
   * Fills as many blocks, and a snapshot's place, from another engine's offer. When it settles nothing writes to them any more.
   * @throws TransferFailed after which nothing that was filled may be used
   */
  fetch(
    from: OfferAddress,
    blocks: readonly number[],
    snapshot: number | null,
    signal?: AbortSignal,
  ): Promise<FetchedKv>;
}
