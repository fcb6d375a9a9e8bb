// LlmGateways and all that belongs to them. What belongs to them is watched once there is a gateway, so that a cluster without
// one is asked for no more than whether there is.

import { fieldManager, gatewayApi, labels } from '@llmservice/crds';
import type { Logger } from 'winston';
import type { KubeClient } from '../kube/client.js';
import { resources, type Resource } from '../kube/resources.js';
import type { Deployment, HttpRoute, KubeObject, VirtualService } from '../kube/types.js';
import { gatewayChildName } from '../plan/identity/child-identity.js';
import { namedHost } from '../plan/traffic/host-claims.js';
import { Collection } from './collection.js';

export interface GatewayCacheOptions {
  readonly client: KubeClient;
  /** Null: all. */
  readonly namespaces: readonly string[] | null;
  readonly logger: Logger;
  /** A gateway appeared, changed or went. `isKnown`: by a write of our own. */
  readonly onGateway: (gateway: KubeObject, isKnown: boolean) => void;
  /** NAMESPACE/NAME of a gateway of which an object changed. */
  readonly onChild: (key: string) => void;
}

const childResources: readonly Resource[] = [
  ...[resources.configMaps, resources.deployments, resources.services, resources.disruptionBudgets],
  ...[resources.networkPolicies, resources.httpRoutes, resources.virtualServices, resources.destinationRules],
];
/** Without them it is not as it is wanted, but other requests of it are served. */
const optionalKinds: readonly string[] = [
  resources.networkPolicies,
  resources.httpRoutes,
  resources.virtualServices,
  resources.destinationRules,
].map(({ kind }) => kind);

export class GatewayCache {
  private readonly gateways: Collection;
  private readonly children: ReadonlyMap<string, Collection>;
  private childrenKnown: Promise<unknown> | null = null;
  private signal: AbortSignal | null = null;

  constructor({ client, namespaces, logger, onGateway, onChild }: GatewayCacheOptions) {
    // A kind that the cluster does not have holds up nothing: its CRD may come with a later chart.
    const common = { client, namespaces, logger, onServed: () => undefined };
    this.gateways = new Collection({ ...common, resource: resources.llmGateways, onChange: onGateway });
    this.children = new Map(
      childResources.map((resource) => [
        resource.kind,
        new Collection({
          ...common,
          resource,
          labelSelector: `${labels.managedBy}=${fieldManager},${labels.gateway}`,
          onChange: ({ metadata }) => {
            const name = metadata.labels?.[labels.gateway];
            if (name !== undefined) onChild(`${metadata.namespace ?? ''}/${name}`);
          },
        }),
      ]),
    );
  }

  /** Settles when the first list of gateways is in, or the cluster has none. */
  async start(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    this.gateways.run(signal);
    await this.gateways.ready;
  }

  /** Settles when what belongs to gateways is known. */
  async readChildren(): Promise<void> {
    const { signal } = this;
    if (signal === null) return;
    if (this.childrenKnown === null) {
      for (const each of this.children.values()) each.run(signal);
      this.childrenKnown = Promise.all([...this.children.values()].map(({ ready }) => ready));
    }
    await this.childrenKnown;
  }

  get(namespace: string, name: string): KubeObject | null {
    return this.gateways.get(namespace, name);
  }

  all(): KubeObject[] {
    return [...this.gateways.values()];
  }

  /** Those that name this public host. */
  at(host: string): KubeObject[] {
    return this.all().filter((gateway) => namedHost(gateway) === host);
  }

  live(desired: KubeObject): KubeObject | null {
    return (
      this.children.get(desired.kind)?.get(desired.metadata.namespace ?? '', desired.metadata.name) ?? null
    );
  }

  remember(object: KubeObject): void {
    if (object.kind === gatewayApi.kind) this.gateways.remember(object);
    else this.children.get(object.kind)?.remember(object);
  }

  deployment(namespace: string, name: string): Deployment | null {
    return this.child(resources.deployments, namespace, name);
  }

  httpRoute(namespace: string, name: string): HttpRoute | null {
    return this.child(resources.httpRoutes, namespace, name);
  }

  virtualService(namespace: string, name: string): VirtualService | null {
    return this.child(resources.virtualServices, namespace, name);
  }

  /** What a gateway may have or not. */
  optional(namespace: string, name: string): KubeObject[] {
    return optionalKinds.flatMap((kind) => this.child({ kind }, namespace, name) ?? []);
  }

  private child({ kind }: Pick<Resource, 'kind'>, namespace: string, name: string): KubeObject | null {
    return this.children.get(kind)?.get(namespace, gatewayChildName(name)) ?? null;
  }
}
