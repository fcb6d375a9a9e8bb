// One replica from start to end: listens at once, obtains the checkpoint, starts the engine, serves, drains.
// The only place where the parts are made and joined.

import { FailureError } from '@llmservice/crds';
import { readCertificates } from './config/read-config.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import { EngineClient } from './engine/engine-client.js';
import type { EngineSettings } from './engine/protocol.js';
import { Admission } from './http/admission.js';
import { makeApp } from './http/app.js';
import { HttpServer } from './http/http-server.js';
import { Lifecycle, type HealthBody } from './http/lifecycle.js';
import type { ServerParts } from './http/server-parts.js';
import { readModelFiles, servedModel, type ModelFiles } from './load-model.js';
import { LoadObserver } from './load-observer.js';
import type { Logger } from './log/logger.js';
import { ServerMetrics } from './metrics/server-metrics.js';
import { obtainCheckpoint } from './weights/obtain-checkpoint.js';
import { StallWatch } from './weights/stall-watch.js';

const watchEveryMs = 250;
const now = (): number => performance.now();
const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Replica {
  private readonly stopping = new AbortController();
  private readonly lifecycle: Lifecycle;
  private readonly stall: StallWatch;
  private readonly parts: ServerParts;
  private readonly http: HttpServer;
  private readonly observer: LoadObserver;
  private client: EngineClient | null = null;
  private boundPort = 0;

  constructor(
    private readonly config: ResolvedConfig,
    private readonly logger: Logger,
  ) {
    const { engineConfig, server } = config;
    const { model } = engineConfig;
    this.lifecycle = new Lifecycle(model.name);
    this.stall = new StallWatch(engineConfig.noProgressTimeoutSeconds * 1000, now);
    this.observer = new LoadObserver(this.lifecycle, this.stall, logger, now);
    this.parts = {
      lifecycle: this.lifecycle,
      metrics: new ServerMetrics(model.name, () => this.lifecycle),
      logger,
      now,
      names: { name: model.name, aliases: model.aliases },
      admission: new Admission(engineConfig.engine.maxNumSeqs + server.maxWaiting),
      running: new Set(),
      maxBodyBytes: server.maxBodyBytes,
    };
    this.http = new HttpServer(makeApp(this.parts), this.parts);
  }

  /** The port that it listens on; 0 before it does. */
  get port(): number {
    return this.boundPort;
  }

  health(): HealthBody {
    return this.lifecycle.health();
  }

  /** Running generations may finish, then `run` resolves. Idempotent. */
  stop(): void {
    this.stopping.abort();
  }

  /**
   * Answers health routes from the first moment; resolves after `stop`.
   * @throws FailureError with which the process should end
   */
  async run(): Promise<void> {
    const { server, engineConfig } = this.config;
    this.boundPort = await this.listen();
    this.logger.info('listening', { host: server.host, port: this.boundPort });
    if (server.trustRemoteCode)
      this.logger.warn('TRUST_REMOTE_CODE is set, but code from a checkpoint is never run');
    try {
      await Promise.race([this.load().then(() => this.untilStopped()), this.watch(), this.untilStopped()]);
      this.logger.info('draining', { timeoutSeconds: engineConfig.drainTimeoutSeconds });
      await this.http.drain(engineConfig.drainTimeoutSeconds * 1000);
    } catch (error) {
      if (error instanceof FailureError) this.lifecycle.fail(error.failure);
      throw error;
    } finally {
      await this.client?.stop();
      await this.http.close();
    }
  }

  private async listen(): Promise<number> {
    const { host, port } = this.config.server;
    try {
      return await this.http.listen(host, port);
    } catch (error) {
      const message = `cannot listen on ${host}:${String(port)} (--host, --port): ${(error as Error).message}`;
      throw new FailureError('InvalidEngineConfig', message, undefined, { cause: error });
    }
  }

  private async load(): Promise<void> {
    const { engineConfig, server, s3Credentials } = this.config;
    const { uri, s3 } = engineConfig.model;
    const modelDir = await obtainCheckpoint({
      uri,
      weightsDir: server.weightsDir,
      s3: {
        endpoint: s3?.endpoint ?? null,
        region: s3?.region ?? 'us-east-1',
        forcePathStyle: s3?.forcePathStyle ?? true,
        credentials: s3Credentials,
        caCertificates: readCertificates(server.s3CaDir),
      },
      observer: this.observer,
      sleep,
      signal: this.stopping.signal,
    });
    this.stall.progress('the checkpoint is complete');
    const files = await readModelFiles(modelDir);
    await this.startEngine(modelDir, files);
  }

  private async startEngine(modelDir: string, files: ModelFiles): Promise<void> {
    const client = new EngineClient(this.engineSettings(modelDir), this.logger);
    this.client = client;
    this.lifecycle.startLoading(client);
    await client.start();
    const { state } = client.health();
    // A failure is the watch's to tell.
    if (state.kind !== 'ready') return;
    const { engine } = this.config.engineConfig;
    this.parts.metrics.cacheConfig({ ...engine, numBlocks: state.numBlocks });
    this.lifecycle.startServing(client, servedModel(files, state.info, state.maxModelLen));
    this.logger.info('serving', {
      ...state.info,
      numBlocks: state.numBlocks,
      maxModelLen: state.maxModelLen,
    });
  }

  private engineSettings(modelDir: string): EngineSettings {
    const { engine, accelerator, parallelism } = this.config.engineConfig;
    return {
      ...engine,
      modelDir,
      tensor: parallelism.tensor,
      memoryBytesPerDevice: accelerator.memoryBytesPerDevice,
      threads: this.config.server.threads,
    };
  }

  /** Rejects when the load stalls or the engine gives up; resolves when the replica is to stop. */
  private async watch(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await sleep(watchEveryMs);
      const state = this.client?.health().state;
      if (state?.kind === 'failed')
        throw new FailureError(state.failure.reason, state.failure.message, state.failure.detail);
      if (state?.kind === 'loading') this.observer.loaded(state.loaded.bytesDone, state.loaded.bytesTotal);
      const stalled = this.lifecycle.model === null ? this.stall.check() : null;
      if (stalled !== null) throw stalled;
    }
  }

  private async untilStopped(): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
}
