// The operator's view of the cluster: one reflector per resource, and for every change the services it may concern.

import { fieldManager, labels, servingName } from '@llmservice/crds';
import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { isWorker } from '../kube/group-pods.js';
import { groupSetName } from '../kube/group-set-name.js';
import { asDeployment } from '../kube/group-set.js';
import { keyOf, podKeyOf, resources, serviceKeyOf, type Resource } from '../kube/resources.js';
import type {
  Autoscaler,
  BackendTlsPolicy,
  Deployment,
  HttpRoute,
  Job,
  KubeObject,
  Pod,
  VirtualService,
} from '../kube/types.js';
import { activatorEndpointsName } from '../plan/identity/child-identity.js';
import { endpointsManagedBy } from '../plan/traffic/activator-endpoints.js';
import { asResolved } from '../plan/class/resolved-object.js';
import { concernedHosts, waitsForHostOf } from '../plan/traffic/host-claims.js';
import { ActivatorPods } from './activator-pods.js';
import { ClassCache } from './class-cache.js';
import { Collection, interruptedOf, type CollectionOptions } from './collection.js';
import { GroupLosses } from './group-losses.js';
import { childKinds, optionalChildren } from './optional-children.js';
import { podAsRead } from './pod-as-read.js';
import { maySleep, scaledServices } from './scaled-services.js';
import { ServedKinds } from './served-kinds.js';
import { podsOfService, podsOfServices, prefillPodsOf } from './pods-of-service.js';
import { classKey, fallbackKey, hostKey, serviceIndex } from './service-index.js';

export interface CachesOptions {
  readonly client: KubeClient;
  /** Whose services are looked after; null: all. */
  readonly namespaces: readonly string[] | null;
  /** The operator's own, where the activator runs. */
  readonly activatorNamespace: string;
  /** Of the operator, and of the activators that are its own; null: those of no instance. */
  readonly instance: string | null;
  /** Whether services may have endpoint pickers, whose kinds are then watched. */
  readonly pickers: boolean;
  readonly logger: Logger;
  /** A service (namespace/name) that may have to be reconciled. */
  readonly onChange: (key: string) => void;
  /** One of which anything changed, its status too; `onOwners`: with its managed fields, which are not kept. */
  readonly onService?: (service: KubeObject) => void;
  readonly onOwners?: (service: KubeObject) => void;
  readonly silenceMs?: number;
}

export class Caches {
  readonly llmServices: Collection;
  readonly classes: ClassCache;
  private readonly pods: Collection;
  private readonly activatorPods: ActivatorPods;
  private readonly children: ReadonlyMap<string, Collection>;
  readonly groupLosses = new GroupLosses();
  /** What the cluster serves of what is read. */
  readonly kinds: ServedKinds;

  constructor(private readonly options: CachesOptions) {
    const { client, namespaces, instance, logger, silenceMs } = options;
    const base = { client, logger, ...(silenceMs === undefined ? {} : { silenceMs }) };
    const common = { ...base, namespaces };
    this.kinds = new ServedKinds(namespaces, logger, () => this.resync());
    this.classes = new ClassCache({
      ...{ client, logger },
      onChange: (name) => {
        for (const each of this.llmServices.indexed(classKey(name))) this.notify(keyOf(each));
      },
    });
    this.llmServices = new Collection({
      ...common,
      ...this.kinds.necessary(resources.llmServices),
      ...{ resource: resources.llmServices, index: serviceIndex, keep: asResolved },
      ...(options.onOwners === undefined ? {} : { onRead: options.onOwners }),
      onChange: (service, isKnown) => this.serviceChanged(asResolved(service), isKnown),
    });
    const owned = (
      resource: Resource,
      labelSelector: string,
      change: Partial<Pick<CollectionOptions, 'keep' | 'index' | 'onChange'>> = {},
    ): Collection =>
      new Collection({
        ...common,
        ...this.kinds.necessary(resource),
        resource,
        labelSelector,
        index: (object) => serviceKeyOf(object) ?? [],
        onChange: (object) => this.changed(object),
        ...change,
      });
    this.pods = owned(resources.pods, `${labels.name}=${servingName}`, {
      ...{ keep: podAsRead, index: (pod) => podKeyOf(pod) ?? [] },
      onChange: (pod) => {
        this.groupLosses.see(pod);
        this.changed(pod, podKeyOf(pod));
      },
    });
    this.activatorPods = new ActivatorPods({
      ...base,
      namespace: options.activatorNamespace,
      instance,
      // Who sleeps depends on them.
      onChange: () => {
        for (const key of this.sleepers().keys()) this.notify(key);
      },
    });
    const mine = `${labels.managedBy}=${fieldManager},${labels.service}`;
    const optional = (resource: Resource): Collection =>
      new Collection({
        ...common,
        resource,
        labelSelector: mine,
        ...{ index: (object) => serviceKeyOf(object) ?? [], onChange: (object) => this.changed(object) },
        ...this.kinds.optional(resource),
      });
    // The cluster's own slices have the labels of their Service, ours among them.
    const { endpointSlices } = resources;
    const myEndpoints = owned(endpointSlices, `${endpointsManagedBy}=${fieldManager},${labels.service}`);
    const kinds = childKinds(options.pickers);
    this.children = new Map([
      [endpointSlices.kind, myEndpoints],
      ...kinds.own.map((each) => [each.kind, owned(each, mine)] as const),
      ...kinds.ofOthers.map((each) => [each.kind, optional(each)] as const),
    ]);
  }

  /** Starts all watches; settles when the first lists are in. */
  async start(signal: AbortSignal): Promise<void> {
    const all = [this.activatorPods, ...this.collections()];
    this.classes.start(signal);
    for (const each of all) each.run(signal);
    await Promise.all(all.map(({ ready }) => ready));
  }

  /** Resources without a watch for so long, as `pods: 75 s`. */
  interrupted(longerThanMs: number): string[] {
    const named = [
      ['llmservices', this.llmServices] as const,
      ['pods', this.pods] as const,
      ['pods of the activator', this.activatorPods] as const,
      ...[...this.children].map(([kind, children]) => [kind, children] as const),
    ];
    return interruptedOf(named, longerThanMs);
  }

  private collections(): readonly Collection[] {
    return [this.llmServices, this.pods, ...this.children.values()];
  }

  private notify(key: string): void {
    const [namespace] = key.split('/');
    if (this.kinds.isWhole(namespace)) this.options.onChange(key);
  }

  /** Has every service reconciled again. */
  resync(): void {
    for (const service of this.llmServices.values()) this.notify(keyOf(service));
  }

  /**
   * It concerns those too that it stands in for, and those that wait for its host. What the watch reports of our own writes
   * (of its status, that is) is no reason to reconcile it again: a message that differs each time would have it
   * reconciled without a pause.
   */
  private serviceChanged(service: KubeObject, isKnown: boolean): void {
    const { metadata } = service;
    this.options.onService?.(service);
    if (!isKnown) {
      this.notify(keyOf({ metadata }));
      const others = concernedHosts(service).flatMap((host) => this.servicesAt(host));
      for (const other of others) if (waitsForHostOf(other, service)) this.notify(keyOf(other));
    }
    for (const other of this.llmServices.indexed(fallbackKey(keyOf({ metadata })))) this.notify(keyOf(other));
  }

  /** Services of all namespaces that name this public host. */
  servicesAt(host: string): KubeObject[] {
    return this.llmServices.indexed(hostKey(host));
  }

  live(desired: KubeObject): KubeObject | null {
    return this.child(desired, desired.metadata.namespace ?? '', desired.metadata.name);
  }

  remember(object: KubeObject): void {
    if (object.kind === resources.llmServices.kind) this.llmServices.remember(object);
    else this.children.get(object.kind)?.remember(object);
  }

  /** The service with the version of our own last write to it. */
  latest(object: KubeObject): KubeObject {
    const { name, namespace = '', uid } = object.metadata;
    const known = this.llmServices.get(namespace, name);
    return known !== null && known.metadata.uid === uid ? known : object;
  }

  /** What holds the pods of a service; where a replica is on several nodes, its LeaderWorkerSet, as if it were one. */
  deployment(namespace: string, name: string): Deployment | null {
    const groups = this.child(resources.leaderWorkerSets, namespace, groupSetName(name));
    return groups === null ? this.child(resources.deployments, namespace, name) : asDeployment(groups);
  }

  optional(namespace: string, name: string): KubeObject[] {
    return [
      ...optionalChildren(name).flatMap(([resource, child]) => this.child(resource, namespace, child) ?? []),
      ...this.childrenOf(resources.claimTemplates, namespace, name),
    ];
  }

  activatorEndpoints(namespace: string, name: string): KubeObject | null {
    return this.child(resources.endpointSlices, namespace, activatorEndpointsName(name));
  }

  /** Addresses of the activator's pods that are ready, in a fixed order. */
  activators(): string[] {
    return this.activatorPods.addresses();
  }

  /** Services that may fall asleep, with their pods. */
  sleepers(): Map<string, Pod[]> {
    return scaledServices(this, maySleep);
  }

  /** Services whose load matters, with their pods: they may fall asleep, or are scaled by it. */
  watched(): Map<string, Pod[]> {
    return scaledServices(this, (scaling) => maySleep(scaling) || scaling.maxReplicas !== undefined);
  }

  autoscaler(namespace: string, name: string): Autoscaler | null {
    const { horizontalPodAutoscalers, scaledObjects } = resources;
    return (
      this.child(scaledObjects, namespace, name) ?? this.child(horizontalPodAutoscalers, namespace, name)
    );
  }

  httpRoute(namespace: string, name: string): HttpRoute | null {
    return this.child(resources.httpRoutes, namespace, name);
  }

  backendTlsPolicy(namespace: string, name: string): BackendTlsPolicy | null {
    return this.child(resources.backendTlsPolicies, namespace, name);
  }

  destinationRule(namespace: string, name: string): KubeObject | null {
    return this.child(resources.destinationRules, namespace, name);
  }

  virtualService(namespace: string, name: string): VirtualService | null {
    return this.child(resources.virtualServices, namespace, name);
  }

  /** One of each replica, which answers for it: of a group the leader. Others may have the same labels. */
  podsOf(namespace: string, service: string): Pod[] {
    return podsOfService(this.pods, namespace, service).filter((pod) => !isWorker(pod));
  }

  /** Those of its groups that compute for their leaders. */
  workersOf(namespace: string, service: string): Pod[] {
    return podsOfService(this.pods, namespace, service).filter(isWorker);
  }

  /** That compute prompts for those above. */
  prefillPodsOf(namespace: string, service: string): Pod[] {
    return prefillPodsOf(this.pods, namespace, service);
  }

  /** Of all services, without prefill pods. */
  readonly servicePods = (): Generator<Pod> => podsOfServices(this.pods);

  /** That pull weights ahead. */
  jobsOf(namespace: string, service: string): Job[] {
    return this.childrenOf(resources.jobs, namespace, service);
  }

  configMapsOf(namespace: string, service: string): KubeObject[] {
    return this.childrenOf(resources.configMaps, namespace, service);
  }

  revisionsOf(namespace: string, service: string): KubeObject[] {
    return this.childrenOf(resources.controllerRevisions, namespace, service);
  }

  private child({ kind }: Pick<Resource, 'kind'>, namespace: string, name: string): KubeObject | null {
    return this.children.get(kind)?.get(namespace, name) ?? null;
  }

  private childrenOf({ kind }: Resource, namespace: string, service: string): KubeObject[] {
    return this.children.get(kind)?.indexed(`${namespace}/${service}`) ?? [];
  }

  private changed(object: KubeObject, key = serviceKeyOf(object)): void {
    if (key !== null) this.notify(key);
  }
}
