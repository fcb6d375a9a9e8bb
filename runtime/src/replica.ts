// One replica from start to end: listens at once, loads its model, serves, drains.
// The only place where the parts are made and joined.

import { FailureError } from '@llmservice/crds';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics } from 'prom-client';
import { AccessControl } from './access-control.js';
import { AdapterControl } from './adapter-control.js';
import type { ObtainedAdapter } from './adapters/obtain-adapter.js';
import { loadEnded, requireAllowed } from './admin-loads.js';
import { AdminServer } from './admin-server.js';
import { makeBatches } from './batches.js';
import { bodyRoom } from './body-room.js';
import type { ResolvedConfig } from './config/resolve-config.js';
import { readIfThere } from './engine/read-if-there.js';
import type { ReplicaControl } from './http/admin-app.js';
import { Admission } from './http/access/admission.js';
import { makeApp } from './http/app.js';
import { batchSender } from './http/batch-sender.js';
import type { BatchService } from './http/batches/batch-service.js';
import { LoopTurns } from './loop-turns.js';
import { BodyBudget } from './http/bodies/body-budget.js';
import { HttpServer } from './http/server/http-server.js';
import { Lifecycle, type HealthBody } from './http/replica/lifecycle.js';
import { withPrefix } from './http/replica/served-model.js';
import type { ServerParts } from './http/replica/server-parts.js';
import { readTlsFiles } from './http/server/tls-files.js';
import { LoadObserver } from './load-observer.js';
import type { Logger } from './log/logger.js';
import { EventLoopDelay, eventLoopSampleMs } from './metrics/event-loop-delay.js';
import { ServerMetrics } from './metrics/server-metrics.js';
import { ModelRun } from './model-run.js';
import { PrefillServer } from './prefill-server.js';
import { makeRequestLog, Observability } from './observability.js';
import { ApiError } from './request/body/api-error.js';
import { compatibilities } from './request/compatibility.js';
import { makeWeightsCache } from './node-cache.js';
import { makeResponseStore } from './response-store.js';
import type { WeightsCache } from './weights/cache/weights-cache.js';
import { StallWatch } from './weights/stall-watch.js';

const watchEveryMs = 250;
const now = (): number => performance.now();

export class Replica {
  private readonly stopping = new AbortController();
  private readonly lifecycle: Lifecycle;
  private readonly stall: StallWatch;
  private readonly parts: ServerParts;
  private readonly http: HttpServer;
  /** Of administrators, and of decode pods. */
  private readonly otherServers: readonly (AdminServer | PrefillServer | null)[];
  private readonly observer: LoadObserver;
  private readonly control: AccessControl;
  private readonly observability: Observability;
  private readonly delay: EventLoopDelay;
  private readonly cache: WeightsCache | null;
  private readonly stored: ReturnType<typeof makeResponseStore>;
  private readonly batches: BatchService | null;
  private readonly adapters: AdapterControl;
  private model: ModelRun | null = null;
  private boundPort = 0;

  /** @throws FailureError CertificateInvalid, KeysInvalid; InvalidEngineConfig: an administration cannot be had */
  constructor(
    private readonly config: ResolvedConfig,
    private readonly logger: Logger,
  ) {
    const { engineConfig, server } = config;
    const { model } = engineConfig;
    const { namePrefix, pathsPerModel } = compatibilities[server.compatibility];
    const names = withPrefix(model, namePrefix);
    this.lifecycle = new Lifecycle(model.name);
    this.stall = new StallWatch(engineConfig.noProgressTimeoutSeconds * 1000, now);
    this.observer = new LoadObserver(this.lifecycle, this.stall, logger, now);
    const metrics = new ServerMetrics(model.name, () => this.lifecycle);
    collectDefaultMetrics({ register: metrics.registry, eventLoopMonitoringPrecision: eventLoopSampleMs });
    this.adapters = new AdapterControl({
      server,
      taken: [names.name, ...names.aliases],
      lifecycle: this.lifecycle,
      registry: metrics.registry,
      logger,
      obtain: (uri, signal) => this.obtainAdapter(uri, signal),
      now,
    });
    this.delay = new EventLoopDelay(metrics.registry, model.name, now);
    this.cache = makeWeightsCache(config, metrics.registry, logger);
    this.stored = makeResponseStore(config, logger);
    const send = batchSender(() => this.parts);
    this.batches = makeBatches(config, metrics, logger, this.lifecycle, send);
    this.control = new AccessControl(config, metrics, logger);
    this.observability = new Observability(
      metrics,
      logger,
      process.env,
      makeRequestLog(config, metrics, logger),
    );
    this.parts = {
      lifecycle: this.lifecycle,
      metrics,
      logger,
      now,
      names: { ...names, adapters: this.adapters.served },
      service: server.service,
      admission: new Admission(engineConfig.engine.maxNumSeqs + server.maxWaiting),
      access: this.control.access,
      running: new Set(),
      turns: new LoopTurns(),
      bodies: new BodyBudget(server.maxBodiesBytes ?? bodyRoom(readIfThere), server.maxBodyBytes, now),
      maxConnections: server.maxConnections,
      corsOrigins: server.corsOrigins,
      storedResponses: this.stored?.responses ?? null,
      batches: this.batches,
      observers: this.observability.observers,
      recentErrors: this.observability.recentErrors,
      keepsTexts: server.requestLog !== null && server.requestLogText,
    };
    const tls = server.tlsDir === null ? null : { folder: server.tlsDir, files: readTlsFiles(server.tlsDir) };
    const app = makeApp(this.parts, {
      clientCertificates: tls?.files.ca !== undefined,
      pathsPerModel,
      computesForOthers: server.disaggregationRole === 'prefill',
    });
    this.http = new HttpServer(app, this.parts, tls);
    const admin = AdminServer.of(server, this.parts, this.adminControl(), tls);
    this.otherServers = [admin, PrefillServer.of(server, this.parts)];
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
    await this.control.open();
    await this.observability.open();
    this.boundPort = await this.listen();
    this.logger.info('listening', { host: server.host, port: this.boundPort });
    this.batches?.start();
    if (server.trustRemoteCode)
      this.logger.warn('TRUST_REMOTE_CODE is set, but code from a checkpoint is never run');
    try {
      await Promise.race([this.loadFirst(), this.watch(), this.untilStopped()]);
      this.logger.info('draining', { timeoutSeconds: engineConfig.drainTimeoutSeconds });
      this.batches?.runner.leave();
      await this.http.drain(engineConfig.drainTimeoutSeconds * 1000);
    } catch (error) {
      if (error instanceof FailureError) this.lifecycle.fail(error.failure);
      throw error;
    } finally {
      // What ran at the deadline has ended by then, and what was answered is stored.
      await this.batches?.close();
      await this.model?.stop();
      await this.http.close();
      for (const each of this.otherServers) await each?.close();
      this.adapters.close();
      await this.control.close();
      await this.observability.close();
      this.stored?.stop();
      this.delay.stop();
    }
  }

  /**
   * Loads a model where none is, and serves it under the replica's name.
   * @throws FailureError; AbortError: it was unloaded, or the replica is to stop. Then there is still none
   */
  async load(uri = this.config.engineConfig.model.uri): Promise<void> {
    this.stopping.signal.throwIfAborted();
    if (this.model !== null) throw new Error('a model is loaded: unload it first');
    const run = new ModelRun(uri, this.config, this.cache, this.observer, this.logger, this.adapters.service);
    this.model = run;
    try {
      const { engine, info, model } = await run.load();
      const { engine: settings } = this.config.engineConfig;
      this.parts.metrics.serving(settings, model.maxModelLen);
      engine.onStep(({ stepTokens }) => this.parts.metrics.stepped(stepTokens));
      await this.adapters.startServing(engine.adapters);
      if (this.model !== run) throw new DOMException('the model was unloaded meanwhile', 'AbortError');
      this.lifecycle.startServing(engine, model);
      this.logger.info('serving', { uri, ...info, maxModelLen: model.maxModelLen });
    } catch (error) {
      await this.end(run);
      throw error;
    }
  }

  /** Ends the engine and a load that is under way; requests in flight end with `model_not_ready`. Idempotent. */
  async unload(): Promise<void> {
    if (this.model !== null) await this.end(this.model);
  }

  private async obtainAdapter(uri: string, signal?: AbortSignal): Promise<ObtainedAdapter> {
    if (this.model === null) throw ApiError.of('model_not_ready', 'no model is loaded');
    return this.model.obtainAdapter(uri, signal);
  }

  private adminControl(): ReplicaControl {
    const { engineConfig, server } = this.config;
    return {
      stop: () => this.stop(),
      load: async (uri) => {
        if (this.model !== null)
          throw ApiError.of('model_already_loaded', 'a model is loaded or loading: unload it first');
        const configured = [engineConfig.model.uri];
        const allowed =
          uri === null ? undefined : await requireAllowed('uri', uri, configured, server.adminAllowedUris);
        await this.load(allowed).catch((error: unknown) => {
          throw isAbort(error) ? loadEnded(this.lifecycle, this.stopping.signal.aborted) : error;
        });
      },
      unload: () => this.unload(),
      loadAdapter: (adapter) => this.adapters.load(adapter),
      unloadAdapter: (name) => this.adapters.service.unload(name),
    };
  }

  /** A load that was unloaded fails, and ends its run a second time: by then there may be another one. */
  private async end(run: ModelRun): Promise<void> {
    if (this.model === run) {
      this.lifecycle.unloaded();
      this.endRunning();
      this.adapters.service.clear();
    }
    await run.stop();
    if (this.model === run) this.model = null;
  }

  /** Before the engine goes, which would call itself lost and about to be restarted. */
  private endRunning(): void {
    const message =
      'an administrator unloaded the model: send the request again once one is loaded, or elsewhere';
    const reason = ApiError.of('model_not_ready', message);
    for (const { controller } of this.parts.running) controller.abort(reason);
  }

  /** Resolves when the replica is to stop. */
  private async loadFirst(): Promise<void> {
    try {
      await this.control.restoreBudgets();
      // It may load and unload: the first load is under way before anybody can ask for another.
      for (const each of this.otherServers) await each?.open();
      await this.adapters.open();
      await this.load();
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
    await this.untilStopped();
  }

  private async listen(): Promise<number> {
    const { host, port } = this.config.server;
    try {
      return await this.http.listen(host, port);
    } catch (error) {
      const message = `cannot listen on ${host ?? 'any address'}:${String(port)} (--host, --port): ${(error as Error).message}`;
      throw new FailureError('InvalidEngineConfig', message, undefined, { cause: error });
    }
  }

  /** Rejects when the load stalls or the engine gives up; resolves when the replica is to stop. */
  private async watch(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await sleep(watchEveryMs);
      const health = this.model?.engine?.health();
      const engineLoads = health !== undefined && this.observer.engineLoads(health);
      // While it loads, a failure is the load's to report.
      if (health?.state.kind === 'failed' && this.lifecycle.model !== null) {
        const { reason, message, detail } = health.state.failure;
        throw new FailureError(reason, message, detail);
      }
      const stalled = this.lifecycle.isLoading || engineLoads ? this.stall.check() : null;
      if (stalled !== null) throw stalled;
    }
  }

  private async untilStopped(): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }
}

/** Of a load that a stop of its run broke off. */
const isAbort = (error: unknown): boolean => (error as Error).name === 'AbortError';
