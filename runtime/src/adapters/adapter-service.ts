// The adapters of this replica from their URIs to the engine, and away again: those of the settings come with the model,
// others at an administrator's word while requests run.

import type { AdapterRoom } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { checkAdapterName, type NamedAdapter } from '../config/adapter-settings.js';
import type { EngineAdapters } from '../engine/engine-adapters.js';
import type { Logger } from '../log/logger.js';
import { ApiError } from '../request/body/api-error.js';
import { invalidRequest } from '../request/body/violation.js';
import type { UsedAdapter } from '../schedule/generation.js';
import type { ObtainedAdapter } from './obtain-adapter.js';
import { otherBase } from './other-base.js';
import type { ServedAdapters } from './served-adapters.js';

/** From a URI to a folder, unless it is given up. */
export type Obtain = (uri: string, signal?: AbortSignal) => Promise<ObtainedAdapter>;

export interface AdapterServiceParts {
  readonly configured: readonly NamedAdapter[];
  readonly room: AdapterRoom;
  readonly served: ServedAdapters;
  /** Names that are the model's. */
  readonly taken: readonly string[];
  readonly logger: Logger;
}

interface Loaded extends NamedAdapter {
  readonly used: UsedAdapter;
  readonly obtained: ObtainedAdapter;
}

export class AdapterService {
  readonly #parts: AdapterServiceParts;
  readonly #loaded = new Map<string, Loaded>();
  /** Names of adapters that come or go. */
  readonly #busy = new Set<string>();
  #engine: EngineAdapters | null = null;
  /** URI of the model. */
  #model = '';

  constructor(parts: AdapterServiceParts) {
    this.#parts = parts;
  }

  /** Has an engine that is about to start load those of the settings. @throws FailureError of an adapter */
  async prepare(engine: EngineAdapters, model: string, obtain: Obtain): Promise<void> {
    this.clear();
    this.#model = model;
    for (const { name, uri } of this.#parts.configured) {
      const used = this.#reserve(name);
      const obtained = await obtain(uri).catch(naming(name));
      this.#loaded.set(name, { name, uri, used, obtained });
      engine.keep({ number: used.number, name, dir: obtained.dir });
      void this.#warnOfOtherBase(name, obtained.dir);
    }
  }

  /** Whether adapters can be loaded. */
  get isServing(): boolean {
    return this.#engine !== null;
  }

  /** What is loaded under the name; null: nothing. */
  uriOf(name: string): string | null {
    return this.#loaded.get(name)?.uri ?? null;
  }

  /** The engine has all that it was to load. */
  startServing(engine: EngineAdapters): void {
    this.#engine = engine;
    for (const adapter of this.#loaded.values()) this.#parts.served.serve(adapter);
  }

  /** @throws ApiError invalid_request, model_not_ready; FailureError why it cannot be loaded */
  async load(adapter: NamedAdapter, obtain: Obtain): Promise<void> {
    const engine = this.#requireEngine();
    this.#requireFree(adapter.name);
    await this.#bring(engine, adapter, obtain, this.#reserve(adapter.name));
  }

  /**
   * Has a name stand for another URI. Until that is loaded it stands for what it did, with which requests that have begun
   * end too; where there is no room for both, until the files are there and no request uses it.
   * @throws as `load`
   */
  async replace(adapter: NamedAdapter, obtain: Obtain): Promise<void> {
    const engine = this.#requireEngine();
    const { name } = adapter;
    if (this.#busy.has(name) || !this.#loaded.has(name)) return this.load(adapter, obtain);
    return this.#bring(engine, adapter, obtain, null);
  }

  /** Resolves once no request uses it any more and the engine is to forget it. @throws ApiError model_not_found */
  async unload(name: string): Promise<void> {
    const engine = this.#requireEngine();
    const loaded = this.#loaded.get(name);
    if (loaded === undefined) {
      const there = [...this.#loaded.keys()].join(', ');
      const message = `there is no adapter ${JSON.stringify(name)}; loaded: ${there === '' ? 'none' : there}`;
      throw ApiError.of('model_not_found', message, { param: 'lora_name' });
    }
    this.#loaded.delete(name);
    await this.#parts.served.remove(name);
    this.#retire(loaded, engine);
  }

  /** The engine is gone. */
  clear(): void {
    this.#engine = null;
    for (const { obtained } of this.#loaded.values()) obtained.release();
    this.#loaded.clear();
    this.#parts.served.clear();
  }

  /** @param reserved null: once the files are there */
  async #bring(
    engine: EngineAdapters,
    { name, uri }: NamedAdapter,
    obtain: Obtain,
    reserved: UsedAdapter | null,
  ): Promise<void> {
    let used = reserved;
    let obtained: ObtainedAdapter | null = null;
    this.#busy.add(name);
    try {
      obtained = await obtain(uri).catch(naming(name));
      used ??= await this.#makeRoom(engine, name);
      await engine.load({ number: used.number, name, dir: obtained.dir });
      this.#requireStill(engine);
    } catch (error) {
      obtained?.release();
      if (used !== null && this.#engine === engine) this.#parts.served.release(used);
      throw error;
    } finally {
      this.#busy.delete(name);
    }
    const before = this.#loaded.get(name);
    const loaded = { name, uri, used, obtained };
    this.#loaded.set(name, loaded);
    const free = this.#parts.served.replace(loaded);
    this.#parts.logger.info('adapter loaded', { name, uri });
    void this.#warnOfOtherBase(name, obtained.dir);
    if (before === undefined) return;
    void free.then(() => {
      this.#retire(before, engine);
    });
  }

  async #warnOfOtherBase(name: string, folder: string): Promise<void> {
    const base = await otherBase(folder, this.#model);
    if (base === null) return;
    this.#parts.logger.warn('adapter was made for another base', { name, base, model: this.#model });
  }

  /** For one more of a name that is loaded. @throws ApiError invalid_request, model_not_ready */
  async #makeRoom(engine: EngineAdapters, name: string): Promise<UsedAdapter> {
    const { served, room } = this.#parts;
    this.#requireStill(engine);
    const spare = served.reserve(name, room.max);
    if (spare !== null) return spare;
    if (this.#loaded.has(name)) await this.unload(name);
    this.#requireStill(engine);
    return this.#reserve(name);
  }

  /** It may have gone meanwhile, and another come, whose numbers are its own. @throws ApiError model_not_ready */
  #requireStill(engine: EngineAdapters): void {
    if (this.#engine !== engine) throw ApiError.of('model_not_ready', 'the model was unloaded meanwhile');
  }

  /** Nobody uses it any more. */
  #retire({ name, uri, used, obtained }: Loaded, engine: EngineAdapters): void {
    obtained.release();
    if (this.#engine !== engine) return;
    engine.unload(used.number);
    this.#parts.served.release(used);
    this.#parts.logger.info('adapter unloaded', { name, uri });
  }

  #requireEngine(): EngineAdapters {
    if (this.#engine !== null) return this.#engine;
    throw ApiError.of('model_not_ready', 'adapters are loaded beside a model, and none is serving');
  }

  /** @throws ApiError invalid_request */
  #requireFree(name: string): void {
    const refuse = (message: string): never => {
      throw invalidRequest([{ param: 'lora_name', message }]);
    };
    try {
      checkAdapterName(name);
    } catch (error) {
      refuse((error as Error).message);
    }
    if (this.#parts.taken.includes(name)) refuse(`${name} is a name of the model itself`);
    if (this.#loaded.has(name) || this.#busy.has(name)) refuse(`the adapter ${name} is loaded already`);
  }

  /** @throws ApiError invalid_request where there is no room for one more */
  #reserve(name: string): UsedAdapter {
    const { served, room } = this.#parts;
    const used = served.reserve(name, room.max);
    if (used !== null) return used;
    const message = `there is room for ${String(room.max)} adapters (engine.maxAdapters, --max-adapters): unload one, or let the plan keep more`;
    throw invalidRequest([{ param: 'lora_name', message }]);
  }
}

/** Has a failure name the adapter that it is of. */
export function naming(name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof FailureError)) throw error;
    const { reason, message, detail } = error.failure;
    throw new FailureError(reason, `adapter ${name}: ${message}`, detail, { cause: error });
  };
}
