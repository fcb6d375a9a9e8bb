// Which addresses are the cluster's own, by objects of its API. Nothing says that they are private ones: clusters number
// pods and Services by public ranges that are not routed to them, and nodes and API servers have public addresses.

import type { KubeObject, Node } from '../kube/types.js';
import { isRange } from './address-ranges.js';

/** Of networking.k8s.io/v1, what is read. */
export interface ServiceCidr extends KubeObject {
  readonly spec?: { readonly cidrs?: readonly string[] };
}

/** Of discovery.k8s.io/v1, what is read. */
export interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[] | null;
}

/** Of Services. */
export function serviceRanges({ spec }: ServiceCidr): string[] {
  return (spec?.cidrs ?? []).filter(isRange);
}

/** Of what stands behind a Service. */
export function endpointRanges({ endpoints }: EndpointSlice): string[] {
  return (endpoints ?? []).flatMap(({ addresses = [] }) => addresses).filter(isRange);
}

/** Of a node, and of the pods there. */
export function nodeRanges({ spec, status }: Node): string[] {
  const { podCIDR, podCIDRs = [] } = spec ?? {};
  const addresses = (status?.addresses ?? []).map(({ address }) => address);
  // Among addresses of nodes are names.
  return [...(podCIDR === undefined ? [] : [podCIDR]), ...podCIDRs, ...addresses].filter(isRange);
}
