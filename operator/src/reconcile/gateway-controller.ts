// Looks after LlmGateways: parse → route models → apply → status, for each when it or a service of its namespace changes.

import { timestamp, type LlmGatewayStatus } from '@llmservice/crds';
import type { Logger } from 'winston';
import { applyObjects } from '../apply/apply-children.js';
import { NotLeaderError, type Writer } from '../apply/writer.js';
import { contentHash } from '../domain/content-hash.js';
import type { Obstacle } from '../domain/plan-outcome.js';
import { routeTableText, type RouteTable } from '../domain/route-table.js';
import type { WantedGateway } from '../domain/wanted-gateway.js';
import type { KubeClient } from '../kube/client.js';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { planGatewayChildren } from '../plan/gateway/gateway-children.js';
import { concernedServices, routeModels, type RoutedModels } from '../plan/gateway/route-models.js';
import { seenByGateways } from '../plan/gateway/seen-by-gateways.js';
import { concernedHosts, waitsForHostOf } from '../plan/traffic/host-claims.js';
import { planRouting, type Routing } from '../plan/traffic/routing.js';
import { parseGateway } from '../resource/parse-gateway.js';
import { gatewayStatus, invalidSpec } from '../status/gateway-status.js';
import type { Caches } from '../watch/caches.js';
import { GatewayCache } from '../watch/gateway-cache.js';
import { Pace } from '../watch/pace.js';
import type { PodAuthorities } from '../watch/pod-authorities.js';
import { WorkQueue } from '../watch/work-queue.js';
import type { Capabilities } from './capabilities.js';
import { gatewayAuthorities } from './gateway-authorities.js';
import { GatewayKeys } from './gateway-keys.js';

export interface GatewayControllerOptions {
  readonly client: KubeClient;
  /** Null: all. */
  readonly namespaces: readonly string[] | null;
  readonly logger: Logger;
  readonly caches: Pick<Caches, 'llmServices' | 'servicesAt'>;
  readonly writer: Writer;
  readonly capabilities: Pick<Capabilities, 'of'>;
  readonly authorities: Pick<PodAuthorities, 'look'>;
  readonly now: () => Date;
  /** NAMESPACE/NAME of a service that waited for a host which a gateway may have left. */
  readonly onHostFreed: (service: string) => void;
}

/** Secrets, authorities and what stands in the way are read again after this long. */
const retryMs = 30_000;
/** From one look to the next that a service is the reason of. */
const pauseMs = 2_000;
/** A ConfigMap holds a MiB. */
const maxTableBytes = 1_000_000;
const noModels: RoutedModels = { routes: [], states: [], problems: [] };

export class GatewayController {
  private readonly cache: GatewayCache;
  private readonly queue: WorkQueue;
  /** By NAMESPACE/NAME of a service, what its last change made of what gateways read. */
  private readonly seen = new Map<string, string>();
  /** Of gateways, where services alone change. */
  private readonly pace = new Pace(pauseMs);
  private readonly keys: GatewayKeys;
  private started = false;

  constructor(private readonly options: GatewayControllerOptions) {
    const { client, namespaces, logger } = options;
    this.keys = new GatewayKeys(client);
    this.cache = new GatewayCache({
      ...{ client, namespaces, logger },
      onGateway: (gateway, isKnown) => {
        if (!isKnown) this.gatewayChanged(gateway);
      },
      onChild: (key) => this.add(key),
    });
    this.queue = new WorkQueue({
      concurrency: 2,
      backoff: { firstMs: 100, maxMs: 60_000 },
      work: (key) => this.reconcile(key),
      onError: (key, error, delayMs) => {
        if (error instanceof NotLeaderError) return;
        logger.warn('reconcile failed', { gateway: key, error: (error as Error).message, delayMs });
      },
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.cache.start(signal);
  }

  /** Begins to write: what services there are is known. */
  begin(): void {
    this.started = true;
    for (const gateway of this.cache.all()) this.add(keyOf(gateway));
  }

  async stop(): Promise<void> {
    await this.queue.stop();
  }

  /** Gateways of all namespaces that name this public host. */
  at(host: string): KubeObject[] {
    return this.cache.at(host);
  }

  /** Concerns the gateways of its namespace, and those that wait for a host that it may have left. */
  serviceChanged(service: KubeObject): void {
    const { namespace = '', name } = service.metadata;
    const isThere = this.options.caches.llmServices.get(namespace, name) !== null;
    const now = isThere ? seenByGateways(service) : undefined;
    if (now !== undefined && this.seen.get(keyOf(service)) === now) return;
    if (now === undefined) this.seen.delete(keyOf(service));
    else this.seen.set(keyOf(service), now);
    for (const gateway of this.cache.all()) {
      const isNear = gateway.metadata.namespace === namespace;
      if (isNear || waitsForHostOf(gateway, service)) this.addSoon(keyOf(gateway));
    }
  }

  private gatewayChanged(gateway: KubeObject): void {
    this.add(keyOf(gateway));
    for (const host of concernedHosts(gateway)) {
      for (const service of this.options.caches.servicesAt(host)) {
        if (waitsForHostOf(service, gateway)) this.options.onHostFreed(keyOf(service));
      }
      for (const other of this.cache.at(host)) if (waitsForHostOf(other, gateway)) this.add(keyOf(other));
    }
  }

  /** Of many services that become ready one after another, a gateway takes several at once. */
  private addSoon(key: string): void {
    if (this.started) this.queue.addAfter(key, this.pace.leftMs(key));
  }

  private add(key: string): void {
    if (this.started) this.queue.add(key);
  }

  /** @returns when to look again, or null where only a change is a reason */
  private async reconcile(key: string): Promise<number | null> {
    const [namespace = '', name = ''] = key.split('/');
    const object = this.cache.get(namespace, name);
    // Owner references do the rest.
    if (object === null || object.metadata.deletionTimestamp !== undefined) {
      this.pace.forget(key);
      return null;
    }
    this.pace.begin(key);
    await this.cache.readChildren();
    const parsed = parseGateway(object);
    if (!parsed.ok) {
      await this.report(object, { refused: invalidSpec(parsed.violations) });
      return null;
    }
    const { gateway } = parsed;
    const refused = await this.keys.refused(gateway);
    if (refused !== null) {
      await this.report(object, { refused, wantedReplicas: gateway.spec.replicas });
      return retryMs;
    }
    return this.apply(object, gateway);
  }

  private async apply(object: KubeObject, gateway: WantedGateway): Promise<number | null> {
    const { namespace, name, spec } = gateway;
    const { caches, capabilities, authorities, writer } = this.options;
    const services = [...caches.llmServices.values()].filter(
      ({ metadata }) => metadata.namespace === namespace,
    );
    const known = await gatewayAuthorities(concernedServices(spec, services), authorities);
    const models = routeModels(
      gateway,
      services,
      (service) => known.get(`${namespace}/${service}`) ?? { state: 'none' },
    );
    const usable = capabilities.of(object, { state: 'none' });
    const routing = planRouting({ namespace, spec: { routing: spec.routing, tls: {} } }, usable);
    const table = { gateway: `${namespace}/${name}`, models: models.routes };
    const image = usable.operatorImage;
    let obstacle: Obstacle | null = image === null ? noImage : tooLong(table);
    if (image !== null && obstacle === null) {
      const inputs = { image, table, routing: routing.state === 'planned' ? routing : null };
      const wanted = planGatewayChildren(gateway, inputs);
      obstacle = await applyObjects(writer, this.cache, wanted, gateway);
      for (const live of this.cache.optional(namespace, name)) {
        if (!wanted.some(({ kind }) => kind === live.kind)) await writer.delete(live, gateway);
      }
    }
    await this.report(object, { models, routing, obstacle, wantedReplicas: spec.replicas });
    const isSettled = obstacle === null && (routing.state === 'planned' || routing.state === 'none');
    // What is not watched: the Secret of keys, and ConfigMaps with authorities.
    const isWatched = spec.auth.keysSecretRef === undefined && known.size === 0;
    return isSettled && isWatched ? null : retryMs;
  }

  private async report(
    object: KubeObject,
    seen: Partial<
      Pick<Parameters<typeof gatewayStatus>[0], 'refused' | 'models' | 'obstacle' | 'wantedReplicas'>
    > & {
      readonly routing?: Routing;
    },
  ): Promise<void> {
    const { name, namespace = '', generation = 0 } = object.metadata;
    const latest = this.cache.get(namespace, name) ?? object;
    const previous = (latest['status'] ?? {}) as LlmGatewayStatus;
    const status = gatewayStatus({
      ...{ namespace, name, generation, previous, now: timestamp(this.options.now()) },
      ...{ refused: null, models: noModels, routing: { state: 'none' }, obstacle: null, wantedReplicas: 1 },
      ...seen,
      deployment: this.cache.deployment(namespace, name),
      httpRoute: this.cache.httpRoute(namespace, name),
      virtualService: this.cache.virtualService(namespace, name),
    });
    if (contentHash(previous) === contentHash(status)) return;
    this.cache.remember(await this.options.writer.writeStatus(latest, status));
  }
}

const noImage: Obstacle = {
  reason: 'RuntimeImageMissing',
  message:
    'The operator was installed without the name of its own image, which has the router. Set its --operator-image.',
  terminal: true,
};

function tooLong(table: RouteTable): Obstacle | null {
  const bytes = Buffer.byteLength(routeTableText(table));
  if (bytes <= maxTableBytes) return null;
  return {
    reason: 'TooManyModels',
    message:
      `The table of ${String(table.models.length)} models has ${String(bytes)} bytes, and a ConfigMap holds ` +
      `${String(maxTableBytes)}: select fewer services, or divide them between gateways.`,
    terminal: true,
  };
}
