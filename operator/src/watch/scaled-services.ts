// Services by how they are scaled, with their pods.

import type { LlmService, LlmServiceSpec } from '@llmservice/crds';
import { keyOf } from '../kube/resources.js';
import type { KubeObject, Pod } from '../kube/types.js';
import type { Collection } from './collection.js';
import type { ServedKinds } from './served-kinds.js';

interface Known {
  readonly llmServices: Pick<Collection, 'values'>;
  readonly kinds: Pick<ServedKinds, 'isWhole'>;
  podsOf(namespace: string, service: string): Pod[];
}

export function maySleep({ idleAfterSeconds }: Partial<LlmServiceSpec['scaling']>): boolean {
  return idleAfterSeconds !== undefined;
}

/** By NAMESPACE/NAME. */
export function scaledServices(
  caches: Known,
  chosen: (scaling: Partial<LlmServiceSpec['scaling']>) => boolean,
): Map<string, Pod[]> {
  const found = new Map<string, Pod[]>();
  for (const service of caches.llmServices.values() as Iterable<LlmService & KubeObject>) {
    const { name, namespace = '' } = service.metadata;
    // An older CRD does not fill it in.
    const { scaling = {} } = service.spec as Partial<LlmService['spec']>;
    if (chosen(scaling) && caches.kinds.isWhole(namespace))
      found.set(keyOf(service), caches.podsOf(namespace, name));
  }
  return found;
}
