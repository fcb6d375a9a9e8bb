// KV transfer by the native engine of this process, on all its ranks. A fetch runs beside steps: it is begun, and asked for
// between steps until it has ended.

import type { Engine, FetchState } from '@llmservice/native';
import { setTimeout as pause } from 'node:timers/promises';
import {
  TransferFailed,
  type FetchedKv,
  type KvTransfer,
  type OfferAddress,
} from '../schedule/kv-transfer.js';

const betweenAsksMs = 3;

type Moves = Pick<Engine, 'info' | 'offerKv' | 'withdrawKv' | 'fetchKv' | 'fetchedKv' | 'endFetch'>;

export class EngineTransfer implements KvTransfer {
  readonly layout: string;
  readonly #engine: Moves;
  readonly #pause: () => Promise<unknown>;
  #fetches = 0;

  /**
   * @param engine loaded with `transfer`
   * @param untilAsked passes the time until a fetch is asked for again
   */
  constructor(engine: Moves, untilAsked: () => Promise<unknown> = () => pause(betweenAsksMs)) {
    if (engine.info.kvLayout === null) throw new TypeError('The engine was loaded without transfer.');
    this.layout = engine.info.kvLayout;
    this.#engine = engine;
    this.#pause = untilAsked;
  }

  offer(ticket: string, blocks: readonly number[], snapshot: number | null): Promise<void> {
    return this.#engine.offerKv({ ticket, blocks: Int32Array.from(blocks), snapshot });
  }

  withdraw(ticket: string): Promise<void> {
    return this.#engine.withdrawKv(ticket);
  }

  async fetch(
    from: OfferAddress,
    blocks: readonly number[],
    snapshot: number | null,
    signal?: AbortSignal,
  ): Promise<FetchedKv> {
    const id = (this.#fetches = (this.#fetches + 1) % 2 ** 31);
    await this.#engine.fetchKv({ id, ...from, blocks: Int32Array.from(blocks), snapshot });
    for (;;) {
      const state = await this.#engine.fetchedKv(id);
      if (state.ended) return fetched(state);
      if (signal?.aborted === true) {
        await this.#engine.endFetch(id);
        throw new TransferFailed('cancelled', `${from.host}: the fetch was cancelled`);
      }
      await this.#pause();
    }
  }
}

function fetched({ failure, message, bytes, snapshotAt }: FetchState): FetchedKv {
  if (failure !== 'none') throw new TransferFailed(failure, message);
  return { bytes, snapshotAt };
}
