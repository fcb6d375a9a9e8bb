// What gateways read of a service, as a hash: a status is written every few seconds while a service loads, and hardly any
// of that concerns a gateway.

import type { LlmServiceSpec, LlmServiceStatus } from '@llmservice/crds';
import { contentHash } from '../../domain/content-hash.js';
import type { KubeObject } from '../../kube/types.js';
import { backendOf } from './route-models.js';

export function seenByGateways(service: KubeObject): string {
  const { uid, deletionTimestamp } = service.metadata;
  const { tls, routing } = (service['spec'] ?? {}) as Partial<LlmServiceSpec>;
  const { url, conditions = [] } = (service['status'] ?? {}) as LlmServiceStatus;
  return contentHash({
    backend: backendOf(service, () => ({ state: 'none' })),
    // By what it is verified, and which hosts it has or waits for.
    ...{ tls, routing, url, uid, isGoing: deletionTimestamp !== undefined },
    routed: conditions.find(({ type }) => type === 'Routed')?.reason,
  });
}
