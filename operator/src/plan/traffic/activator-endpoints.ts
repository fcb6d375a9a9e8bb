// Endpoints that put the activator's pods behind a service's own Service, beside those that its selector finds: neither
// Service nor route has to change when its pods go and come.

import { fieldManager, ports } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { resources } from '../../kube/resources.js';
import type { WantedService } from '../../spec/parse-spec.js';
import { childMetadata } from '../identity/child-metadata.js';
import { schemeOf } from '../pods/container-parts.js';

/** Label of EndpointSlices: who writes them. */
export const endpointsManagedBy = 'endpointslice.kubernetes.io/managed-by';

export function activatorEndpointsName(service: string): string {
  return `${service}-activator`;
}

/** @param addresses of the activator's pods; of two families those of the first one's are taken */
export function planActivatorEndpoints(service: WantedService, addresses: readonly string[]): KubeObject {
  const metadata = childMetadata(service, activatorEndpointsName(service.name));
  const v6 = addresses[0]?.includes(':') === true;
  const { apiVersion, kind } = resources.endpointSlices;
  return {
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      labels: {
        ...metadata.labels,
        'kubernetes.io/service-name': service.name,
        [endpointsManagedBy]: fieldManager,
      },
    },
    addressType: v6 ? 'IPv6' : 'IPv4',
    endpoints: addresses
      .filter((address) => address.includes(':') === v6)
      .map((address) => ({ addresses: [address], conditions: { ready: true } })),
    // By the name that the Service has for it.
    ports: [{ name: schemeOf(service), port: ports.activator, protocol: 'TCP' }],
  };
}
