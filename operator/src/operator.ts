// The operator as a whole: waits for the lease, watches, works the queue, and stops writing the moment the lease is
// no longer surely its own.

import { setMaxListeners } from 'node:events';
import type { Logger } from 'winston';
import { NotLeaderError, Writer } from './apply/writer.js';
import { endsWithin } from './ends-within.js';
import type { KubeClient } from './kube/client.js';
import type { Metrics } from './metrics.js';
import type { OperatorTiming } from './operator-timing.js';
import type { OperatorOptions } from './options.js';
import { Capabilities } from './reconcile/capabilities.js';
import { Observations } from './reconcile/observations.js';
import { Stores } from './preflight/stores.js';
import { ClusterGuard } from './preflight/cluster-guard.js';
import { LongReader } from './preflight/long-reader.js';
import { Preflight } from './preflight/preflight.js';
import { ServiceSecrets } from './preflight/service-secrets.js';
import { CanaryController } from './reconcile/canary-controller.js';
import { FieldOwnerController } from './reconcile/field-owner-controller.js';
import { GatewayController } from './reconcile/gateway-controller.js';
import { PrePullController } from './reconcile/pre-pull-controller.js';
import { Reconciler } from './reconcile/reconciler.js';
import { RolloutController } from './reconcile/rollout-controller.js';
import { SleepController } from './reconcile/sleep-controller.js';
import { StatusWriter } from './reconcile/status-writer.js';
import { ServiceMetrics } from './service-metrics.js';
import { Caches } from './watch/caches.js';
import { CanaryMonitor } from './watch/canary-monitor.js';
import { DeviceRoom } from './watch/device-room.js';
import { PlacementNotes } from './watch/placement-notes.js';
import { CrashLogs } from './watch/crash-logs.js';
import type { HealthMonitorOptions } from './watch/health-monitor.js';
import { IdleMonitor } from './watch/idle-monitor.js';
import { AdapterMonitor, podsWithAdapters } from './watch/adapter-monitor.js';
import { LeaderElection } from './watch/leader-election.js';
import { LoadScaler } from './reconcile/load-scaler.js';
import { LoadMonitor } from './watch/load-monitor.js';
import { ClusterRoom } from './watch/cluster-room.js';
import { MetricsApi } from './watch/metrics-api.js';
import { PodAuthorities } from './watch/pod-authorities.js';
import { StreamChecks } from './watch/stream-checks.js';
import { WorkQueue } from './watch/work-queue.js';

/** Of the Lease by which replicas agree on a leader. @param instance null: of the only operator in its namespace */
export function leaseName(instance: string | null): string {
  return instance ?? 'llmservice-operator';
}

export interface OperatorParts {
  readonly client: KubeClient;
  readonly options: OperatorOptions;
  readonly logger: Logger;
  /** Given the queue's depth, since the queue comes to be inside. */
  readonly metrics: (queueDepth: () => number) => Metrics;
  readonly timing?: OperatorTiming;
  readonly podBaseUrl?: HealthMonitorOptions['baseUrl'];
  /** The time of day; the machine's unless a test says otherwise. */
  readonly clock?: () => Date;
}

/** How long a new revision's image may not come before the one before it is gone back to. */
const imagePullMs = 5 * 60_000;
/** How long a new pod may find no node before an old one makes room for it. */
const unschedulableMs = 30_000;
const queueBackoff = { firstMs: 100, maxMs: 60_000 };
const resyncMs = 10 * 60_000;
/** A leader that has not seen the cluster for so long does not do its work. */
const unsyncedMs = 60_000;
/** How long the lease is not given up for what is still under way; then it lapses by itself. */
const drainMs = 10_000;

export class Operator {
  private readonly election: LeaderElection;
  private readonly queue: WorkQueue;
  private readonly caches: Caches;
  private readonly loads: LoadMonitor;
  private readonly adapters: AdapterMonitor;
  private readonly idle: IdleMonitor;
  private readonly canaries: CanaryMonitor;
  private readonly metricsApi: MetricsApi;
  private readonly gateways: GatewayController;
  private readonly owners: FieldOwnerController;
  private readonly guard: ClusterGuard;
  private readonly preflight: Preflight;
  /** When it began to lead, by the monotonic clock; null: it does not. */
  private leadingSince: number | null = null;
  /** The first lists are in: what is missing in a cache before that may be in the cluster. */
  private synced = false;
  readonly metrics: Metrics;
  private readonly serviceMetrics: ServiceMetrics;

  constructor(private readonly parts: OperatorParts) {
    const { client, options, logger, timing = {} } = parts;
    this.election = new LeaderElection({
      client,
      logger,
      namespace: options.leaseNamespace,
      name: leaseName(options.instance),
      identity: options.identity,
      ...timing,
    });
    this.caches = new Caches({
      ...{ client, logger },
      namespaces: options.watchNamespaces,
      activatorNamespace: options.leaseNamespace,
      instance: options.instance,
      pickers: options.capabilities.endpointPickerImage !== null,
      onChange: (key) => {
        if (this.synced) this.queue.add(key);
      },
      onService: (service) => this.gateways.serviceChanged(service),
      ...(options.conversion === null ? {} : { onOwners: (service) => this.owners.see(service) }),
      ...(timing.silenceMs === undefined ? {} : { silenceMs: timing.silenceMs }),
    });
    const authorities = new PodAuthorities(client);
    const identityOf: HealthMonitorOptions['identityOf'] = (pod) => authorities.identityOf(pod);
    const asked = {
      identityOf,
      ...(timing.loadIntervalMs === undefined ? {} : { intervalMs: timing.loadIntervalMs }),
      ...(parts.podBaseUrl === undefined ? {} : { baseUrl: parts.podBaseUrl }),
    };
    this.loads = new LoadMonitor({
      ...asked,
      pods: () => this.caches.servicePods(),
      onChange: (key) => this.queue.add(key),
    });
    this.adapters = new AdapterMonitor({
      ...asked,
      pods: () => podsWithAdapters(this.caches),
      onChange: (key) => this.queue.add(key),
    });
    const { caches } = this;
    const measured = {
      identityOf,
      ...(timing.idleIntervalMs === undefined ? {} : { intervalMs: timing.idleIntervalMs }),
      ...(parts.podBaseUrl === undefined ? {} : { baseUrl: parts.podBaseUrl }),
    };
    this.idle = new IdleMonitor({
      ...measured,
      services: () => caches.watched(),
      onChange: (key) => this.queue.add(key),
      onLook: (key, look) => autoscaler.looked(key, look),
      onGone: (key) => autoscaler.forget(key),
    });
    this.canaries = new CanaryMonitor({ ...measured, caches });
    this.metricsApi = new MetricsApi({
      client,
      onChange: () => {
        if (this.synced) caches.resync();
      },
      ...(timing.metricsApiMs === undefined ? {} : { intervalMs: timing.metricsApiMs }),
    });
    const writer = new Writer(
      client,
      () => this.election.held,
      options.identity,
      (error) => {
        this.metrics.countRefusedEvent(error);
        logger.debug('an event was refused', { error: error.message });
      },
    );
    this.owners = new FieldOwnerController(writer, logger);
    const crashLogs = new CrashLogs(client);
    const devices = new DeviceRoom(client);
    const placement = new PlacementNotes(client, devices);
    const streams = new StreamChecks({
      client,
      publicAddress: options.publicAddress,
      onChange: (key) => this.queue.add(key),
      ...(timing.streamPauses === undefined ? {} : { pauses: timing.streamPauses }),
    });
    const room = new ClusterRoom(client, logger);
    const secrets = new ServiceSecrets(client);
    this.guard = new ClusterGuard({
      client,
      logger,
      rules: options.endpoints,
      ...(timing.clusterLookMs === undefined ? {} : { intervalMs: timing.clusterLookMs }),
    });
    this.preflight = new Preflight(new Stores(secrets, this.guard, client), {
      onRead: (key) => this.queue.add(key),
      longReader: new LongReader(secrets, this.guard),
    });
    const now = parts.clock ?? (() => new Date());
    const capabilities = new Capabilities(options.capabilities, caches, this.metricsApi, (host) =>
      this.gateways.at(host),
    );
    this.gateways = new GatewayController({
      ...{ client, logger, caches, writer, capabilities, authorities, now },
      namespaces: options.watchNamespaces,
      onHostFreed: (key) => this.queue.add(key),
    });
    const reconciler = new Reconciler({
      caches,
      preflight: this.preflight,
      writer,
      prePulls: new PrePullController(caches, writer, room, devices),
      ...{ crashLogs, placement },
      observations: new Observations({
        ...{ caches, crashLogs, placement, streams, authorities },
        ...{ loads: this.loads, adapters: this.adapters, idle: this.idle },
      }),
      sleeps: new SleepController(caches, this.idle, options.activatorTls),
      statuses: new StatusWriter(caches, writer, now),
      capabilities,
      operatorNamespace: options.leaseNamespace,
      canaries: new CanaryController(caches, this.canaries),
      rollouts: new RolloutController(room, devices, timing.unschedulableMs ?? unschedulableMs),
      streams,
      authorities,
      patience: { imagePullMs: timing.imagePullMs ?? imagePullMs },
      now,
    });
    const autoscaler = new LoadScaler({
      caches,
      writer,
      capabilities: () => capabilities.ofEveryService(),
      onError: (key, error) => {
        if (error instanceof NotLeaderError) return;
        logger.warn('scaling failed', { service: key, error: error.message });
      },
    });
    this.queue = new WorkQueue({
      concurrency: options.concurrency,
      backoff: queueBackoff,
      work: (key) => this.metrics.measure(() => reconciler.reconcile(key)),
      onError: (key, error, delayMs) => {
        // Between the loss of the lease and the end of the process this is as it should be.
        if (error instanceof NotLeaderError) return;
        logger.warn('reconcile failed', { service: key, error: (error as Error).message, delayMs });
      },
    });
    this.metrics = parts.metrics(() => this.queue.depth);
    this.metrics.watchUnserved(() => caches.kinds.unserved());
    this.metrics.watchReadiness(() => this.notReady() === null);
    this.serviceMetrics = new ServiceMetrics(this.metrics.registry, caches, options.prices, now);
  }

  /** Whether this process may write now. */
  get leading(): boolean {
    return this.election.held;
  }

  /** Why the leader does not do its work, for whoever asks by `/readyz`; null: it does, or does not lead. */
  notReady(): string | null {
    const { timing = {} } = this.parts;
    const maxMs = timing.unsyncedMs ?? unsyncedMs;
    if (this.leadingSince === null || performance.now() - this.leadingSince < maxMs) return null;
    const interrupted = this.caches.interrupted(maxMs);
    if (interrupted.length > 0) return `leading without a watch of ${interrupted.join(', ')}`;
    if (this.caches.kinds.isBlind) return 'leading, and none of the watched namespaces can be read';
    return this.synced ? null : 'leading, and the cluster is not read yet';
  }

  /** Runs until the signal aborts. @throws when the lease is lost: the process must end and begin anew */
  async run(signal: AbortSignal): Promise<void> {
    const { logger, options, timing = {} } = this.parts;
    logger.info('waiting for the lease', { identity: options.identity });
    try {
      await this.election.acquire(signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    logger.info('leading', { identity: options.identity });
    this.metrics.setLeading(true);
    this.serviceMetrics.beginLeading();
    this.leadingSince = performance.now();
    const watching = new AbortController();
    const stop = AbortSignal.any([signal, watching.signal]);
    // Every watch listens, which are more than the ten from which on Node warns of a leak.
    setMaxListeners(0, stop);
    const kept = this.election.keep(signal);
    const resync = setInterval(() => this.caches.resync(), timing.resyncMs ?? resyncMs);
    let drained: boolean;
    try {
      const known = [this.caches, this.metricsApi, this.guard, this.gateways].map((each) => each.start(stop));
      await Promise.race([Promise.all(known), kept]);
      this.synced = true;
      this.caches.resync();
      this.gateways.begin();
      for (const each of [this.loads, this.adapters, this.idle, this.canaries]) each.start();
      if ((await kept) === 'lost') throw new Error('the lease was lost');
    } finally {
      this.metrics.setLeading(false);
      this.leadingSince = null;
      clearInterval(resync);
      for (const each of [this.loads, this.adapters, this.metricsApi]) each.stop();
      watching.abort();
      // What comes of a look at the load is written alongside the reconciles.
      const working = [this.queue, this.idle, this.canaries, this.gateways, this.owners];
      drained = await endsWithin(Promise.all(working.map((each) => each.stop())), drainMs);
      this.preflight.stop();
    }
    // A write under way would come among those of the next leader.
    if (drained) await this.election.release();
    else logger.warn('work under way did not end in time: the lease is left to lapse');
  }
}
