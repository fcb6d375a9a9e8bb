// Prompts that a prefill pod has computed, until their asker has fetched them: their blocks stay as they are under a ticket,
// the request's id. Whoever goes without withdrawing it, or takes too long, loses it.

import type { GenerateRequest, OfferedKv } from '../schedule/generation.js';
import type { KvTransfer } from '../schedule/kv-transfer.js';
import type { OfferedPrompt, PromptShare } from '../schedule/prompt-share.js';
import type { TransferCounts } from './transfer-counts.js';

export const ticketMs = 60_000;

interface Ticket {
  readonly offered: OfferedPrompt;
  readonly expiresAt: number;
  ending: Promise<void> | null;
}

interface Parts {
  readonly prompts: Pick<PromptShare, 'offer' | 'endOffer'>;
  readonly transfer: Pick<KvTransfer, 'offer' | 'withdraw'>;
  readonly counts: TransferCounts;
  readonly now: () => number;
  /** Called when there is room again. */
  readonly released: () => void;
}

export class Offers {
  readonly #parts: Parts;
  /** Of prompts that are computed for others, by id: blocks that the asker has. */
  readonly #wanted = new Map<string, GenerateRequest>();
  readonly #tickets = new Map<string, Ticket>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The request will be computed; if it is for another engine, its end is an offer. */
  expect(request: GenerateRequest): void {
    if (request.offerFrom !== undefined) this.#wanted.set(request.id, request);
  }

  /**
   * To be called in the very turn in which the request has ended, before anything else takes its blocks.
   * @returns null: it was computed for nobody else
   */
  open(id: string): Promise<OfferedKv> | null {
    const request = this.#wanted.get(id);
    if (request === undefined) return null;
    this.#wanted.delete(id);
    const { prompts, transfer, now } = this.#parts;
    const offered = prompts.offer(request, request.offerFrom ?? 0);
    const { blocks, snapshot, tokens } = offered;
    this.#tickets.set(id, { offered, expiresAt: now() + ticketMs, ending: null });
    this.#count();
    return transfer.offer(id, blocks, snapshot).then(
      () => ({ blocks: blocks.length, snapshot: snapshot !== null, tokens }),
      async (error: unknown) => {
        await this.withdraw(id);
        throw error;
      },
    );
  }

  /** Of a request that nobody waits for, too. Idempotent; blocks are free once nobody reads them. */
  async withdraw(id: string): Promise<void> {
    this.#wanted.delete(id);
    const ticket = this.#tickets.get(id);
    if (ticket === undefined) return;
    ticket.ending ??= this.#end(id, ticket);
    await ticket.ending;
  }

  /** Ends tickets whose time is over. */
  expire(): void {
    const now = this.#parts.now();
    for (const [id, { expiresAt, ending }] of this.#tickets) {
      if (ending !== null || now < expiresAt) continue;
      this.#parts.counts.expired();
      void this.withdraw(id);
    }
  }

  async #end(id: string, { offered }: Ticket): Promise<void> {
    const { prompts, transfer, released } = this.#parts;
    // Where that fails the engine is lost, and with it all blocks.
    await transfer.withdraw(id);
    this.#tickets.delete(id);
    prompts.endOffer(offered);
    this.#count();
    released();
  }

  #count(): void {
    this.#parts.counts.ticketsOpen = this.#tickets.size;
  }
}
