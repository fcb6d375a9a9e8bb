// Watches the endpoints of a service as kube-proxy and gateways do, and remembers the fewest that were ready.

import type { KubeObject } from '../../operator/src/kube/types.js';
import { createOperatorLogger } from '../../operator/src/log.js';
import { Reflector } from '../../operator/src/watch/reflector.js';
import { eventually } from '../processes.js';
import type { ApiServer } from './api-server.js';

const endpointSlices = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
};

interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[] | null;
}

export class ReadyEndpoints {
  private readonly stopped = new AbortController();
  private readonly counts: number[] = [];

  private constructor(private readonly reflector: Reflector) {}

  /**
   * Counts from when so many are ready. A service is Ready by its Deployment, and the controller that writes its endpoints
   * may be a second behind: it waits that long where its cache lacks its own last write.
   */
  static async watch(api: ApiServer, service: string, ready = 1): Promise<ReadyEndpoints> {
    const endpoints: ReadyEndpoints = new ReadyEndpoints(
      new Reflector({
        client: api.admin,
        resource: endpointSlices,
        namespace: 'default',
        labelSelector: `kubernetes.io/service-name=${service}`,
        logger: createOperatorLogger(null),
        onChange: () => endpoints.counts.push(endpoints.now()),
      }),
    );
    void endpoints.reflector.run(endpoints.stopped.signal);
    await eventually(`${ready} endpoints`, () => endpoints.now() >= ready);
    endpoints.counts.splice(0, Infinity, endpoints.now());
    return endpoints;
  }

  /** Ends the watch. @returns the fewest since it began */
  fewest(): number {
    this.stopped.abort();
    return Math.min(...this.counts);
  }

  private now(): number {
    const slices = [...this.reflector.values()] as EndpointSlice[];
    const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
    return endpoints.filter(({ conditions }) => conditions?.ready !== false).length;
  }
}
