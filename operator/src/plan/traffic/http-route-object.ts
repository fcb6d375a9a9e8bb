// An HTTPRoute of the Gateway API as all planners write it: one host, attached to the operator's Gateway.

import type { KubeObject } from '../../kube/types.js';
import type { Gateway } from './routing.js';

interface Attached {
  readonly metadata: KubeObject['metadata'];
  readonly host: string;
  readonly gateway: Gateway;
}

export function httpRouteObject(
  { metadata, host, gateway: { name, namespace } }: Attached,
  rules: readonly object[],
): KubeObject {
  const group = 'gateway.networking.k8s.io';
  return {
    apiVersion: `${group}/v1`,
    kind: 'HTTPRoute',
    metadata,
    spec: { parentRefs: [{ group, kind: 'Gateway', name, namespace }], hostnames: [host], rules },
  };
}
