// Endpoints that put the activator's pods behind a service's own Service, in addition to those that its selector finds: neither
// Service nor route has to change when its pods go and come.

import type { DiscoveryV1EndpointPort, V1Endpoint } from '@kubernetes/client-node';
import { fieldManager, ports } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { resources } from '../../kube/resources.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { activatorEndpointsName } from '../identity/child-identity.js';
import { childMetadata } from '../identity/child-metadata.js';
import { schemeOf } from '../pods/container-parts.js';

/** Label of EndpointSlices: who writes them. */
export const endpointsManagedBy = 'endpointslice.kubernetes.io/managed-by';

export interface ActivatorEndpoints {
  readonly addressType: string;
  readonly addresses: readonly string[];
}

/**
 * Of two families the first address's is taken. The type of a slice never changes: one of another type has to go first,
 * and one without addresses keeps its own.
 * @param addresses of the activator's pods that are ready
 * @param live what is there
 * @returns null: nothing is to be there for now
 */
export function activatorEndpoints(
  addresses: readonly string[],
  live: KubeObject | null,
): ActivatorEndpoints | null {
  const liveType = live === null ? null : String(live['addressType']);
  const [first] = addresses;
  if (first === undefined) return liveType === null ? null : { addressType: liveType, addresses };
  const addressType = familyOf(first);
  if (liveType !== null && liveType !== addressType) return null;
  return { addressType, addresses: addresses.filter((address) => familyOf(address) === addressType) };
}

function familyOf(address: string): 'IPv4' | 'IPv6' {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

export function planActivatorEndpoints(
  service: WantedService,
  { addressType, addresses }: ActivatorEndpoints,
): KubeObject {
  const metadata = childMetadata(service, activatorEndpointsName(service.name));
  const { apiVersion, kind } = resources.endpointSlices;
  const scheme = schemeOf(service);
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
    addressType,
    endpoints: addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true },
    })) satisfies V1Endpoint[],
    // By the name that the Service has for it.
    ports: [
      { name: scheme, port: scheme === 'https' ? ports.secureActivator : ports.activator, protocol: 'TCP' },
    ] satisfies DiscoveryV1EndpointPort[],
  };
}
