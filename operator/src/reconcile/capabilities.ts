// What planners may use for a service: what the operator was installed with, and what the cluster serves now.

import type { KubeObject } from '../kube/types.js';
import type { ClusterCapabilities, Installation } from '../plan/plan-service.js';
import { hostClaim, hostHolder, isBeyondClass } from '../plan/traffic/host-claims.js';
import type { PodAuthority } from '../plan/traffic/pod-authority.js';
import { refusedHost } from '../plan/traffic/route-hosts.js';
import type { Caches } from '../watch/caches.js';
import type { MetricsApi } from '../watch/metrics-api.js';

export class Capabilities {
  constructor(
    readonly installation: Installation,
    private readonly caches: Pick<Caches, 'kinds' | 'latest' | 'servicesAt'>,
    private readonly metricsApi: Pick<MetricsApi, 'served'>,
    /** Gateways of all namespaces that name this public host. */
    private readonly gatewaysAt: (host: string) => readonly KubeObject[],
  ) {}

  of(object: KubeObject, authority: PodAuthority): ClusterCapabilities {
    return { ...this.ofEveryService(), hostTaken: this.isHostTaken(object), authority };
  }

  ofEveryService(): Omit<ClusterCapabilities, 'hostTaken' | 'authority'> {
    const { gatewayApi, backendTls, istio, destinationRules, keda } = this.caches.kinds;
    const { inferencePools, deviceClaims, leaderWorkerSets, forbidden } = this.caches.kinds;
    const customMetrics = this.metricsApi.served;
    const served = { gatewayApi, backendTls, istio, destinationRules, keda, inferencePools, deviceClaims };
    const more = { leaderWorkerSets, customMetrics };
    return { ...this.installation, ...served, ...more, forbidden };
  }

  private isHostTaken(object: KubeObject): boolean {
    const own = hostClaim(this.caches.latest(object));
    if (own === null) return false;
    const named = [...this.caches.servicesAt(own.host), ...this.gatewaysAt(own.host)];
    const others = named.flatMap((each) => (isBeyondClass(each) ? [] : (hostClaim(each) ?? [])));
    // What a namespace may not have it does not keep from others.
    const rightful = others.filter(
      ({ namespace, host }) => refusedHost(namespace, host, this.installation.limits.routeHosts) === null,
    );
    return hostHolder(own, rightful) !== null;
  }
}
