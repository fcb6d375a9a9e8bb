// The adapters of one replica, made from its configuration and joined: those of its settings, those of its list, and those
// that administrators load.

import { FailureError } from '@llmservice/crds';
import type { Registry } from 'prom-client';
import { AdapterFolder } from './adapters/adapter-folder.js';
import { AdapterService, naming, type Obtain } from './adapters/adapter-service.js';
import { ServedAdapters } from './adapters/served-adapters.js';
import { asRefusedAdapter, requireAllowed } from './admin-loads.js';
import { adapterRoomOf, type NamedAdapter } from './config/adapter-settings.js';
import type { ServerSettings } from './config/server-settings.js';
import type { EngineAdapters } from './engine/engine-adapters.js';
import type { Lifecycle } from './http/replica/lifecycle.js';
import type { Logger } from './log/logger.js';
import { observeAdapters } from './metrics/adapter-metrics.js';

/** Adapters that are not there by then come later: they keep nobody from the model. */
const waitMs = 20_000;

export interface AdapterControlParts {
  readonly server: ServerSettings;
  /** Names that are the model's. */
  readonly taken: readonly string[];
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly logger: Logger;
  readonly obtain: Obtain;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
}

export class AdapterControl {
  readonly served = new ServedAdapters();
  readonly service: AdapterService;
  readonly #parts: AdapterControlParts;
  /** Null: there is no list. */
  readonly #folder: AdapterFolder | null;

  /** @throws FailureError InvalidEngineConfig: a list without room for what comes */
  constructor(parts: AdapterControlParts) {
    const { server, taken, lifecycle, registry, logger } = parts;
    const room = adapterRoomOf(server);
    this.#parts = parts;
    this.service = new AdapterService({
      configured: server.adapters,
      room,
      served: this.served,
      taken,
      logger,
    });
    this.#folder = this.#follow();
    const folder = this.#folder;
    if (folder !== null) lifecycle.reportAdapters(() => folder.report);
    observeAdapters(registry, room.max, this.served, folder);
  }

  async open(): Promise<void> {
    await this.#folder?.open();
  }

  /** The engine has those of the settings; resolves once it has those of the list, too, or some of them keep it waiting. */
  async startServing(engine: EngineAdapters): Promise<void> {
    this.service.startServing(engine);
    await this.#folder?.settle(waitMs);
  }

  /** At an administrator's word. @throws as `ReplicaControl.loadAdapter` */
  load(adapter: NamedAdapter): Promise<void> {
    return this.#load(adapter).catch(asRefusedAdapter);
  }

  close(): void {
    this.#folder?.close();
  }

  async #load({ name, uri }: NamedAdapter): Promise<void> {
    const { server, obtain } = this.#parts;
    const configured = server.adapters.map((each) => each.uri);
    const allowed = await requireAllowed('lora_path', uri, configured, server.adminAllowedUris).catch(
      naming(name),
    );
    await this.service.load({ name, uri: allowed }, obtain);
  }

  #follow(): AdapterFolder | null {
    const { server, obtain, logger, now } = this.#parts;
    if (server.adaptersDir === null) return null;
    if (server.maxAdapters === null) {
      const message =
        '--adapters-dir needs --max-adapters: the memory plan keeps room for adapters that come later';
      throw new FailureError('InvalidEngineConfig', message);
    }
    return new AdapterFolder({ dir: server.adaptersDir, service: this.service, obtain, logger, now });
  }
}
