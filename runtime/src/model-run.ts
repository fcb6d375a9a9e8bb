// One model from its URI to an engine that serves it, and away again. The engine loads what is on disk while the rest
// is still pulled, but nothing is served before all is verified.

import { FailureError } from '@llmservice/crds';
import type { EngineInfo } from '@llmservice/native';
import { tmpdir } from 'node:os';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { AdapterService } from './adapters/adapter-service.js';
import { obtainAdapter, type ObtainedAdapter } from './adapters/obtain-adapter.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import { readHeads } from './checkpoint/read-classifier.js';
import { EngineClient } from './engine/engine-client.js';
import { engineSettingsOf } from './engine-settings.js';
import type { ServedModel } from './http/replica/served-model.js';
import { readModelFiles, servedModel } from './load-model.js';
import type { LoadObserver } from './load-observer.js';
import type { Logger } from './log/logger.js';
import { storeSettingsOf } from './store-settings.js';
import { compatibilities } from './request/compatibility.js';
import type { ServerDefaults } from './request/fields/generation-defaults.js';
import { manifestSampling } from './request/fields/sampling.js';
import type { TextProcesses } from './text-processes/text-processes.js';
import { requirePairFrame } from './tokens/require-pair-frame.js';
import type { WeightsCache } from './weights/cache/weights-cache.js';
import { SourceChangedError } from './weights/checkpoint-source.js';
import { retryWhileUnavailable } from './weights/retry.js';
import { obtainModel } from './obtain-model.js';
import type { ObtainedCheckpoint } from './weights/obtain-checkpoint.js';

/** An engine that is ready, and what requests need besides it. */
export interface ReadyModel {
  readonly engine: EngineClient;
  readonly info: EngineInfo;
  readonly model: ServedModel;
}

const lookAgainMs = 1_000;

export class ModelRun {
  private readonly stopping = new AbortController();
  private loading: Promise<ReadyModel> | null = null;
  private checkpoint: ObtainedCheckpoint | null = null;
  private client: EngineClient | null = null;
  private processes: TextProcesses | null = null;

  constructor(
    private readonly uri: string,
    private readonly config: ResolvedConfig,
    private readonly cache: WeightsCache | null,
    private readonly observer: LoadObserver,
    private readonly logger: Logger,
    private readonly adapters: AdapterService,
  ) {}

  /** Null before there is one. */
  get engine(): EngineClient | null {
    return this.client;
  }

  /**
   * To be called once.
   * @throws FailureError any reason of a checkpoint, of S3, of the disk or of the engine's load
   */
  load(): Promise<ReadyModel> {
    this.loading = this.loadUntilUnchanged();
    return this.loading;
  }

  /** Ends engine and pull; what is on disk stays for the next. Resolves when nothing of it is left. Idempotent. */
  async stop(): Promise<void> {
    this.stopping.abort();
    // The load may be about to start an engine: it ends with the abort, or with the engine that it waits for.
    await this.client?.stop();
    await this.loading?.catch(() => undefined);
    await this.discard();
  }

  private async loadUntilUnchanged(): Promise<ReadyModel> {
    for (;;) {
      try {
        return await this.loadOnce();
      } catch (error) {
        // Someone is uploading, or a file arrived broken: what the engine has read of it is worthless.
        if (!(error instanceof SourceChangedError)) throw error;
        this.logger.warn('the checkpoint is checked again', { cause: error.message });
        await this.discard();
        await this.sleep(lookAgainMs);
      }
    }
  }

  private async loadOnce(): Promise<ReadyModel> {
    this.observer.started();
    const checkpoint = await this.obtain();
    this.checkpoint = checkpoint;
    const verified = checkpoint.verified.then(() => this.observer.pulled());
    checkpoint.kept.catch((error: unknown) => {
      const { name, message } = error as Error;
      if (name !== 'AbortError')
        this.logger.warn('the checkpoint is not kept for other pods', { cause: message });
    });
    const [ready] = await Promise.all([this.startEngine(checkpoint), verified]);
    return ready;
  }

  private obtain(): Promise<ObtainedCheckpoint> {
    const { uri, cache, observer } = this;
    const sleep = (milliseconds: number): Promise<void> => this.sleep(milliseconds);
    return obtainModel(this.config, { uri, cache, observer, sleep, signal: this.stopping.signal });
  }

  /** @throws FailureError, AbortError */
  obtainAdapter(uri: string, signal?: AbortSignal): Promise<ObtainedAdapter> {
    const { server } = this.config;
    const stopping = AbortSignal.any([this.stopping.signal, ...(signal === undefined ? [] : [signal])]);
    const sleep = (milliseconds: number): Promise<void> =>
      sleepFor(milliseconds, undefined, { signal: stopping });
    const settings = {
      // Other pods write to a cache, of which only checkpoints are held.
      weightsDir: this.cache === null ? server.weightsDir : tmpdir(),
      cache: null,
      stores: storeSettingsOf(this.config),
      allowedUris: server.adminAllowedUris,
      observer: quiet,
      sleep,
      signal: stopping,
    };
    return obtainAdapter(uri, settings, (read) => retryWhileUnavailable(read, this.observer, sleep));
  }

  private async startEngine(checkpoint: ObtainedCheckpoint): Promise<ReadyModel> {
    const { arrivals, verified } = checkpoint;
    const files = await readModelFiles(checkpoint.dir, this.logger);
    if (this.checkpoint !== checkpoint) {
      await files.processes.close();
      throw new SourceChangedError('the checkpoint changed meanwhile');
    }
    this.processes = files.processes;
    this.stopping.signal.throwIfAborted();
    const client = new EngineClient(
      engineSettingsOf(this.config, this.uri, checkpoint),
      this.logger,
      undefined,
      arrivals?.map ?? null,
    );
    this.client = client;
    await this.adapters.prepare(client.adapters, this.uri, (uri) => this.obtainAdapter(uri));
    this.observer.engineStarted(client);
    await client.start();
    const { state } = client.health();
    if (state.kind === 'ready') {
      const { info, maxModelLen } = state;
      const { engine } = this.config.engineConfig;
      // Its bytes may come last, and the engine does not wait for them.
      const heads = await verified.then(() => readHeads(checkpoint.dir));
      if (heads.classifier?.pooling === 'cls') await requirePairFrame(files.tokenizer);
      const model = servedModel(files, this.serverDefaults(), info, maxModelLen, engine, heads);
      return { engine: client, info, model };
    }
    this.stopping.signal.throwIfAborted();
    const failure = state.kind === 'failed' ? state.failure : stoppedLoading;
    // The digest decides whether the checkpoint is at fault or what arrived of it.
    if (failure.reason === 'CheckpointCorrupt') await verified;
    throw new FailureError(failure.reason, failure.message, failure.detail);
  }

  private serverDefaults(): ServerDefaults {
    const { engineConfig, server } = this.config;
    const { thinkingDefault, samplingDefaults } = engineConfig.engine;
    return {
      thinks: thinkingDefault,
      sampling: manifestSampling(samplingDefaults),
      compatibility: compatibilities[server.compatibility],
      takesTemplates: server.trustRequestChatTemplate,
    };
  }

  /** Ends the engine and lets go of the checkpoint. */
  private async discard(): Promise<void> {
    await this.client?.stop();
    this.client = null;
    await this.processes?.close();
    this.processes = null;
    await this.checkpoint?.verified.catch(() => undefined);
    this.checkpoint?.arrivals?.close();
    await this.checkpoint?.kept.catch(() => undefined);
    this.checkpoint?.release();
    this.checkpoint = null;
  }

  private async sleep(milliseconds: number): Promise<void> {
    await sleepFor(milliseconds, undefined, { signal: this.stopping.signal });
  }
}

const nothing = (): void => undefined;
/** Adapters are small beside a checkpoint: the progress of a load is the checkpoint's. */
const quiet = { begin: nothing, received: nothing, alive: nothing, elsewhere: nothing };

const stoppedLoading = {
  reason: 'EngineFault',
  message: 'the engine was stopped while it loaded',
  detail: undefined,
} as const;
