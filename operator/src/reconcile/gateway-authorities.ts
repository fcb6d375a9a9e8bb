// By what a gateway's services that speak HTTPS are verified, read before its models are routed: their own reconciling may
// not have begun, and a gateway does not hear of it that an authority has changed.

import type { LlmServiceSpec } from '@llmservice/crds';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import type { PodAuthority } from '../plan/traffic/pod-authority.js';
import type { PodAuthorities } from '../watch/pod-authorities.js';

/**
 * @returns by NAMESPACE/NAME, those of services that speak HTTPS alone
 * @throws ApiError where the API server does not say
 */
export async function gatewayAuthorities(
  services: readonly KubeObject[],
  authorities: Pick<PodAuthorities, 'look'>,
): Promise<ReadonlyMap<string, PodAuthority>> {
  const found = new Map<string, PodAuthority>();
  for (const service of services) {
    const { name, namespace = '' } = service.metadata;
    // An older CRD does not fill it in.
    const { tls = {} } = (service['spec'] ?? {}) as Partial<LlmServiceSpec>;
    if (tls.secretRef === undefined) continue;
    found.set(keyOf(service), await authorities.look({ namespace, name, spec: { tls } }));
  }
  return found;
}
