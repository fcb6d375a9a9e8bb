// Gathers what a status is made from: what was wanted and planned, and what the caches hold of it.

import { controllerUid } from '../kube/controller-uid.js';
import { prefillName } from '../kube/prefill-name.js';
import { resources } from '../kube/resources.js';
import type { KubeObject, Pod } from '../kube/types.js';
import { endpointPickerName } from '../plan/identity/child-identity.js';
import { servingSelector } from '../plan/identity/child-metadata.js';
import { groupSetName } from '../kube/group-set-name.js';
import { ofRevision } from '../plan/canary/canary-pods.js';
import { planAdapterList } from '../plan/pods/adapter-list.js';
import { schemeOf } from '../plan/pods/container-parts.js';
import { listedAdapters } from '../plan/pods/listed-adapters.js';
import { idleDemand, planDemand } from '../plan/scaling/demand.js';
import { planFallback, type Fallback } from '../plan/traffic/fallback.js';
import type { ServicePlan, ClusterCapabilities } from '../plan/plan-service.js';
import { originatesTls } from '../plan/traffic/istio-route.js';
import { authoritiesForActivator } from '../plan/traffic/pod-authority.js';
import { planPool, type Pool } from '../plan/traffic/pool.js';
import { planRouting, type Routing } from '../plan/traffic/routing.js';
import { readSleepMark } from '../plan/scaling/sleep.js';
import type { ResolvedSpec } from '../plan/class/resolve-class.js';
import type { WantedService } from '../domain/wanted-service.js';
import type { Observed, Streaming } from '../status/observed.js';
import { answeringMs } from '../status/pod-state.js';
import type { AdapterMonitor } from '../watch/adapter-monitor.js';
import type { Caches } from '../watch/caches.js';
import type { CrashLogs } from '../watch/crash-logs.js';
import type { IdleMonitor } from '../watch/idle-monitor.js';
import type { LoadMonitor } from '../watch/load-monitor.js';
import type { PlacementNotes } from '../watch/placement-notes.js';
import type { PodAuthorities } from '../watch/pod-authorities.js';
import type { StreamChecks } from '../watch/stream-checks.js';

export interface ObservationSources {
  readonly caches: Caches;
  readonly loads: Pick<LoadMonitor, 'of'>;
  readonly adapters: Pick<AdapterMonitor, 'of'>;
  readonly idle: Pick<IdleMonitor, 'of'>;
  readonly crashLogs: Pick<CrashLogs, 'read' | 'explained'>;
  readonly placement: Pick<PlacementNotes, 'explained'>;
  readonly streams: Pick<StreamChecks, 'of'>;
  readonly authorities: Pick<PodAuthorities, 'of'>;
}

type Seen = Pick<Observed, 'deployment' | 'httpRoute' | 'backendTlsPolicy' | 'virtualService' | 'autoscaler'>;
type Own = Pick<Observed, 'pods' | 'now'> & Seen;
type Frame = Pick<
  Observed,
  'namespace' | 'name' | 'generation' | 'previous' | 'now' | 'obstacle' | 'failureHold' | 'selector' | 'sleep'
>;

export class Observations {
  constructor(private readonly sources: ObservationSources) {}

  /**
   * @param revision of the template that is wanted; null where none could be planned
   * @param now RFC 3339, to the second
   */
  of(
    object: KubeObject,
    service: WantedService,
    plan: ServicePlan,
    revision: string | null,
    now: string,
  ): Observed {
    const { caches, loads, crashLogs, idle } = this.sources;
    const key = `${service.namespace}/${service.name}`;
    const seenPods = crashLogs.explained(caches.podsOf(service.namespace, service.name));
    const pods = this.sources.placement.explained(key, seenPods);
    const frame = this.frame(object, service.nodes, now);
    const prefillPods = caches.prefillPodsOf(service.namespace, service.name);
    const demand = planDemand(service, frame.previous, [...pods, ...prefillPods], now);
    const seen = this.seen(object);
    const tried = frame.previous.canary?.revision;
    // A canary alone cannot answer for the service.
    const stable = pods.filter((pod) => tried === undefined || !ofRevision(pod, tried));
    return {
      ...frame,
      ...seen,
      fallback: this.fallback(service, plan.routing, { ...seen, pods: stable, now }),
      canary: { state: 'off' },
      pool: this.pool(service, plan, seen, now),
      streaming: this.streaming(service, plan),
      modelName: service.modelName,
      serviceClass: service.serviceClass,
      wantedReplicas: demand.replicas,
      demand,
      autoscaling: plan.autoscaling,
      scraped: idle.of(key),
      stopped: service.spec.stop,
      resolution: plan.resolution,
      fit: plan.fit,
      scheme: schemeOf(service),
      activatorAuthorities: authoritiesForActivator(service, this.sources.authorities.of(key)),
      routing: plan.routing,
      revision,
      pods,
      ...this.groups(service),
      prefill: this.prefill(service, prefillPods),
      loads: loads.of(pods),
      adapters: this.adapters(service, plan),
      refusedAdapters: plan.refusedAdapters,
      adapterReports: this.sources.adapters.of(pods),
    };
  }

  /** Of a service whose spec cannot be followed; its pods stay as they are. */
  ofInvalid(
    object: KubeObject,
    { violations, serviceClass }: ResolvedSpec & { ok: false },
    capabilities: ClusterCapabilities,
    now: string,
  ): Observed {
    const { name, namespace = '' } = object.metadata;
    const spec = object['spec'] as Partial<WantedService['spec']> | undefined;
    const routing = { provider: 'auto', ...spec?.routing };
    const known = { routing, tls: spec?.tls ?? {} } as WantedService['spec'];
    const frame = this.frame(object, spec?.parallelism?.nodes ?? 1, now);
    const { previous } = frame;
    return {
      ...frame,
      ...this.seen(object),
      modelName: spec?.model?.name ?? name,
      serviceClass,
      wantedReplicas: spec?.replicas ?? 1,
      demand: idleDemand,
      autoscaling: { state: 'off' },
      scraped: { state: 'unknown' },
      stopped: false,
      resolution: { state: 'invalid', violations },
      fit: { state: 'unresolved' },
      scheme: schemeOf({ spec: known }),
      activatorAuthorities: previous.certificateAuthorities ?? null,
      routing: planRouting({ namespace, spec: known }, capabilities),
      revision: null,
      pods: this.sources.caches.podsOf(namespace, name),
      workers: [],
      groupLosses: [],
      prefill: null,
      loads: new Map(),
      adapters: [],
      refusedAdapters: [],
      adapterReports: new Map(),
      fallback: { state: 'none' },
      canary: { state: 'off' },
      pool: { state: 'none' },
      streaming: { state: 'noRoute' },
    };
  }

  /** As the list of the pods has them: what was not found good stays as it was. */
  private adapters(service: WantedService, { refusedAdapters }: ServicePlan): Observed['adapters'] {
    const live = this.sources.caches.live(planAdapterList(service, []));
    return listedAdapters(service.adapters, refusedAdapters, live);
  }

  private streaming({ namespace, name, spec }: WantedService, { routing }: ServicePlan): Streaming {
    if (routing.state !== 'planned') return { state: 'noRoute' };
    if (spec.engine.runtime === 'vllm') return { state: 'unpaced' };
    return { state: 'route', ...this.sources.streams.of(`${namespace}/${name}`, routing) };
  }

  private pool(
    service: WantedService,
    { routing, pooling }: ServicePlan,
    { httpRoute: route }: Seen,
    now: string,
  ): Pool {
    const { caches } = this.sources;
    const { namespace, name } = service;
    const pool = caches.live({ ...resources.inferencePools, metadata: { namespace, name } });
    const picker = caches.deployment(namespace, endpointPickerName(name));
    const metadata = { namespace, name: endpointPickerName(name) };
    const pickerService = caches.live({ ...resources.services, metadata });
    const pickerRule = caches.destinationRule(namespace, metadata.name);
    const there = { pool, picker, pickerService, pickerRule, route };
    return planPool({ service, routing, capabilities: pooling, ...there, now });
  }

  private fallback(service: WantedService, routing: Routing, own: Own): Fallback {
    const { caches } = this.sources;
    const { namespace } = service;
    const named = service.spec.routing.fallback?.service ?? '';
    const byIstio = routing.state === 'planned' && routing.gateway.provider === 'istio';
    return planFallback({
      service,
      other: caches.llmServices.get(namespace, named),
      otherVerified: byIstio
        ? originatesTls(caches.destinationRule(namespace, named))
        : caches.backendTlsPolicy(namespace, named) !== null,
      route: own.httpRoute ?? own.virtualService,
      answeringMs: answeringMs(own.pods, own.now),
      asleep: readSleepMark(own.deployment) !== null,
    });
  }

  private groups({ namespace, name, nodes }: WantedService): Pick<Observed, 'workers' | 'groupLosses'> {
    if (nodes === 1) return { workers: [], groupLosses: [] };
    const { caches, placement } = this.sources;
    const workers = placement.explained(`${namespace}/${name}`, caches.workersOf(namespace, name));
    const wanted = caches.deployment(namespace, name)?.spec?.replicas ?? 0;
    const groups = Array.from({ length: wanted }, (_, index) => `${groupSetName(name)}-${String(index)}`);
    return { workers, groupLosses: caches.groupLosses.of(namespace, groups) };
  }

  private prefill({ namespace, name, uid, spec }: WantedService, pods: readonly Pod[]): Observed['prefill'] {
    if (spec.disaggregation === undefined) return null;
    const deployment = this.sources.caches.deployment(namespace, prefillName(name));
    const isOurs = deployment !== null && controllerUid(deployment) === uid;
    return { wanted: spec.disaggregation.prefill.replicas, deployment: isOurs ? deployment : null, pods };
  }

  private frame(object: KubeObject, nodes: number, now: string): Frame {
    const { name, namespace = '', generation = 0 } = object.metadata;
    const selector = Object.entries(servingSelector({ name, nodes })).map(
      ([key, value]) => `${key}=${value}`,
    );
    return {
      namespace,
      name,
      generation,
      previous: this.sources.caches.latest(object)['status'] ?? {},
      now,
      obstacle: null,
      failureHold: null,
      sleep: { state: 'never' },
      selector: selector.join(','),
    };
  }

  private seen({ metadata: { name, namespace = '' } }: KubeObject): Seen {
    const { caches } = this.sources;
    return {
      deployment: caches.deployment(namespace, name),
      httpRoute: caches.httpRoute(namespace, name),
      backendTlsPolicy: caches.backendTlsPolicy(namespace, name),
      virtualService: caches.virtualService(namespace, name),
      autoscaler: caches.autoscaler(namespace, name),
    };
  }
}
