// A node other than the first of those that share an engine's ranks: obtains the checkpoint, runs its ranks until the first
// node's engine ends, and answers probes and /metrics alone. It ends with the group: what starts it again, starts all.

import { FailureError, type Failure } from '@llmservice/crds';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { ResolvedConfig } from './config/resolve-config.js';
import { engineSettingsOf } from './engine-settings.js';
import { EngineChild, type EngineNews } from './engine/engine-child.js';
import { defaultLimits } from './engine/engine-client.js';
import { Lifecycle, type HealthBody } from './http/replica/lifecycle.js';
import { LoadObserver } from './load-observer.js';
import type { Logger } from './log/logger.js';
import { makeWeightsCache } from './node-cache.js';
import { NodeServer } from './http/server/node-server.js';
import { obtainModel } from './obtain-model.js';
import type { WeightsCache } from './weights/cache/weights-cache.js';
import type { ObtainedCheckpoint } from './weights/obtain-checkpoint.js';
import { StallWatch } from './weights/stall-watch.js';

const watchEveryMs = 250;
const now = (): number => performance.now();

export class NodeWorker {
  private readonly stopping = new AbortController();
  private readonly registry = new Registry();
  private readonly lifecycle: Lifecycle;
  private readonly stall: StallWatch;
  private readonly observer: LoadObserver;
  private readonly cache: WeightsCache | null;
  private readonly http: NodeServer;
  private child: EngineChild | null = null;
  private waitingFor = '';
  /** All ranks of the group have loaded. */
  private loaded = false;
  private boundPort = 0;

  /** @throws FailureError CertificateInvalid */
  constructor(
    private readonly config: ResolvedConfig,
    private readonly logger: Logger,
  ) {
    const { engineConfig, server } = config;
    this.lifecycle = new Lifecycle(engineConfig.model.name);
    this.stall = new StallWatch(engineConfig.noProgressTimeoutSeconds * 1000, now);
    this.observer = new LoadObserver(this.lifecycle, this.stall, logger, now);
    collectDefaultMetrics({ register: this.registry });
    this.cache = makeWeightsCache(config, this.registry, logger);
    this.http = new NodeServer(() => this.health(), this.registry, server.tlsDir);
  }

  /** The port that it listens on; 0 before it does. */
  get port(): number {
    return this.boundPort;
  }

  /** As of a replica, `serving` where its ranks take part, and which node it is. */
  health(): HealthBody & { readonly node: object } {
    const { workerIndex: index, groupSize: count } = this.config.server;
    const { state, ...body } = this.lifecycle.health();
    const isReady = this.loaded && state === 'loading';
    const node = { index, count, waitingFor: this.waitingFor === '' ? null : this.waitingFor };
    return { state: isReady ? 'serving' : state, ...body, node };
  }

  /** The group may end in peace: its first node says when. Idempotent. */
  stop(): void {
    this.stopping.abort();
  }

  /**
   * Resolves when the group has ended in peace, or after `stop` when it did not in the time for a drain.
   * @throws FailureError with which the process should end: a peer that was lost, by name
   */
  async run(): Promise<void> {
    const { server, engineConfig } = this.config;
    this.boundPort = await this.http.listen(server.host, server.port);
    this.logger.info('listening', { host: server.host, port: this.boundPort, node: server.workerIndex });
    let checkpoint: ObtainedCheckpoint | null = null;
    try {
      checkpoint = await this.obtain();
      const verified = checkpoint.verified.then(() => this.observer.pulled());
      const ended = this.runRanks(checkpoint);
      await Promise.race([
        Promise.all([ended, verified]),
        this.watch(),
        this.untilStopped(engineConfig.drainTimeoutSeconds),
      ]);
      this.logger.info('the first node has ended its engine, or this one had to');
    } catch (error) {
      if (error instanceof FailureError) this.lifecycle.fail(error.failure);
      if (!this.stopping.signal.aborted) throw error;
    } finally {
      await this.child?.shutdown();
      checkpoint?.arrivals?.close();
      await this.http.close();
    }
  }

  private obtain(): Promise<ObtainedCheckpoint> {
    const { signal } = this.stopping;
    const sleep = (milliseconds: number): Promise<void> => sleepFor(milliseconds, undefined, { signal });
    const { cache, observer, config } = this;
    const { uri } = config.engineConfig.model;
    observer.started();
    return obtainModel(config, { uri, cache, observer, sleep, signal });
  }

  /** Resolves when the first node's engine has ended in peace. */
  private runRanks(checkpoint: ObtainedCheckpoint): Promise<void> {
    const settings = engineSettingsOf(this.config, this.config.engineConfig.model.uri, checkpoint);
    return new Promise((resolve, reject) => {
      const news = (message: EngineNews): void => {
        if (message.type === 'ended') resolve();
        else this.hear(message);
      };
      const ended = ({ reason, message, detail }: Failure): void => {
        this.child = null;
        reject(new FailureError(reason, message, detail));
      };
      const arrivals = checkpoint.arrivals?.map ?? null;
      this.child = new EngineChild(settings, arrivals, defaultLimits, { news, ended }, []);
    });
  }

  private hear(news: EngineNews): void {
    if (news.type === 'progress') this.observer.loaded(news);
    if (news.type === 'loaded') {
      this.loaded = true;
      this.logger.info('all ranks have loaded');
    }
    if (news.type === 'waiting') {
      this.waitingFor = news.waitingFor;
      if (news.waitingFor !== '')
        this.logger.info('waiting for other nodes', { waitingFor: news.waitingFor });
    }
  }

  /** Rejects when the load stalls: waiting for other nodes has an end of its own. */
  private async watch(): Promise<never> {
    for (;;) {
      await sleepFor(watchEveryMs);
      if (this.loaded || this.waitingFor !== '') this.stall.progress('the ranks run');
      const stalled = this.stall.check();
      if (stalled !== null) throw stalled;
    }
  }

  private async untilStopped(drainSeconds: number): Promise<void> {
    const { signal } = this.stopping;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (this.loaded) await sleepFor(drainSeconds * 1000);
  }
}
