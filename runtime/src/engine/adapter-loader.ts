// Loads adapters into the engine of this process, one after the other and part by part, so that steps run between the parts.

import type { ModelShape } from '@llmservice/checkpoint';
import { openAdapter, openCheckpoint } from '@llmservice/checkpoint/local';
import { FailureError } from '@llmservice/crds';
import { adapterParts, type Engine } from '@llmservice/native';
import { failureOf } from './failure-of.js';
import type { EngineAdapter, EngineSettings } from './protocol.js';

export class AdapterLoader {
  readonly #engine: Pick<Engine, 'loadAdapter' | 'unloadAdapter'>;
  readonly #settings: Pick<EngineSettings, 'modelDir' | 'adapterRoom'>;
  #shape: ModelShape | null = null;
  /** The load or unload that was asked for last. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    engine: Pick<Engine, 'loadAdapter' | 'unloadAdapter'>,
    settings: Pick<EngineSettings, 'modelDir' | 'adapterRoom'>,
  ) {
    this.#engine = engine;
    this.#settings = settings;
  }

  /** @throws FailureError naming the adapter; then nothing of it is left */
  load(adapter: EngineAdapter): Promise<void> {
    return this.#after(() => this.#load(adapter));
  }

  unload(number: number): Promise<void> {
    return this.#after(() => this.#engine.unloadAdapter(number));
  }

  #after(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #load({ number, name, dir }: EngineAdapter): Promise<void> {
    try {
      this.#shape ??= (await openCheckpoint(this.#settings.modelDir)).shape;
      const adapter = await openAdapter(dir, this.#shape, this.#settings.adapterRoom.maxRank);
      for (const part of adapterParts(number, adapter)) await this.#engine.loadAdapter(part);
    } catch (error) {
      const { reason, message, detail } = failureOf(error);
      throw new FailureError(reason, `adapter ${name}: ${message}`, detail, { cause: error });
    }
  }
}
