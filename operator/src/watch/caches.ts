// The operator's view of the cluster: one reflector per resource, and for every change the services it may concern.

import { fieldManager, labels } from '@llmservice/crds';
import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { resources, type Resource } from '../kube/resources.js';
import type { Deployment, HttpRoute, KubeObject, Pod } from '../kube/types.js';
import { podAsRead } from './pod-as-read.js';
import { Reflector, type ReflectorOptions } from './reflector.js';

export interface CachesOptions {
  readonly client: KubeClient;
  readonly namespace: string | null;
  readonly logger: Logger;
  /** A service (namespace/name) that may have to be looked at. */
  readonly onChange: (key: string) => void;
  readonly silenceMs?: number;
}

export class Caches {
  readonly llmServices: Reflector;
  readonly pods: Reflector;
  private readonly children: ReadonlyMap<string, Reflector>;
  private readonly routes: Reflector;
  private hasGatewayApi = false;

  constructor(private readonly options: CachesOptions) {
    const { client, namespace, logger, silenceMs } = options;
    const common = { client, namespace, logger, ...(silenceMs === undefined ? {} : { silenceMs }) };
    this.llmServices = new Reflector({
      ...common,
      resource: resources.llmServices,
      onChange: ({ metadata }) => options.onChange(`${metadata.namespace ?? ''}/${metadata.name}`),
    });
    const owned = (
      resource: Resource,
      labelSelector: string,
      keep: Pick<ReflectorOptions, 'keep'> = {},
    ): Reflector =>
      new Reflector({
        ...common,
        ...keep,
        resource,
        labelSelector,
        onChange: (object) => this.changed(object),
      });
    this.pods = owned(resources.pods, labels.service, { keep: podAsRead });
    const mine = `${labels.managedBy}=${fieldManager},${labels.service}`;
    this.routes = new Reflector({
      ...common,
      resource: resources.httpRoutes,
      labelSelector: mine,
      onChange: (object) => this.changed(object),
      onServed: (served) => this.routesServed(served),
    });
    const { deployments, controllerRevisions, services, configMaps, disruptionBudgets } = resources;
    this.children = new Map([
      ...[deployments, controllerRevisions, services, configMaps, disruptionBudgets].map(
        (each) => [each.kind, owned(each, mine)] as const,
      ),
      [resources.httpRoutes.kind, this.routes],
    ]);
  }

  /** Whether the cluster knows HTTPRoute. */
  get gatewayApi(): boolean {
    return this.hasGatewayApi;
  }

  /** Starts all watches; settles when the first lists are in. */
  async start(signal: AbortSignal): Promise<void> {
    const all = [this.llmServices, this.pods, ...this.children.values()];
    for (const reflector of all) void reflector.run(signal);
    await Promise.all(all.map((reflector) => reflector.ready));
  }

  /** The Gateway API may be installed after the operator, and removed before it. */
  private routesServed(served: boolean): void {
    this.hasGatewayApi = served;
    for (const { metadata } of this.llmServices.values())
      this.options.onChange(`${metadata.namespace ?? ''}/${metadata.name}`);
  }

  live(desired: KubeObject): KubeObject | null {
    return (
      this.children.get(desired.kind)?.get(desired.metadata.namespace ?? '', desired.metadata.name) ?? null
    );
  }

  remember(object: KubeObject): void {
    if (object.kind === resources.llmServices.kind) this.llmServices.remember(object);
    else this.children.get(object.kind)?.remember(object);
  }

  deployment(namespace: string, name: string): Deployment | null {
    return (
      (this.children.get(resources.deployments.kind)?.get(namespace, name) as
        Deployment | null | undefined) ?? null
    );
  }

  route(namespace: string, name: string): HttpRoute | null {
    return this.routes.get(namespace, name);
  }

  podsOf(namespace: string, service: string): Pod[] {
    return this.ofService(this.pods, namespace, service);
  }

  configMapsOf(namespace: string, service: string): KubeObject[] {
    return this.childrenOf(resources.configMaps, namespace, service);
  }

  revisionsOf(namespace: string, service: string): KubeObject[] {
    return this.childrenOf(resources.controllerRevisions, namespace, service);
  }

  private childrenOf({ kind }: Resource, namespace: string, service: string): KubeObject[] {
    const reflector = this.children.get(kind);
    return reflector === undefined ? [] : this.ofService(reflector, namespace, service);
  }

  private ofService(reflector: Reflector, namespace: string, service: string): KubeObject[] {
    return reflector
      .labelled(labels.service, service)
      .filter(({ metadata }) => metadata.namespace === namespace)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  private changed({ metadata }: KubeObject): void {
    const service = metadata.labels?.[labels.service];
    if (service !== undefined) this.options.onChange(`${metadata.namespace ?? ''}/${service}`);
  }
}
