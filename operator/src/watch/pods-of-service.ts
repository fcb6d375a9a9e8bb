// Pods by the service that they are of, and not only labelled as.

import { labels } from '@llmservice/crds';
import { isPodOf, isPrefillPodOf } from '../kube/is-pod-of.js';
import type { Pod } from '../kube/types.js';
import type { Collection } from './collection.js';

/** @param pods by NAMESPACE/SERVICE of their labels */
export function podsOfService(pods: Pick<Collection, 'indexed'>, namespace: string, service: string): Pod[] {
  const labelled = pods.indexed(`${namespace}/${service}`) as Pod[];
  return labelled.filter((pod) => isPodOf(pod, service));
}

/** @param pods by NAMESPACE/SERVICE of their labels */
export function prefillPodsOf(pods: Pick<Collection, 'indexed'>, namespace: string, service: string): Pod[] {
  const labelled = pods.indexed(`${namespace}/${service}`) as Pod[];
  return labelled.filter((pod) => isPrefillPodOf(pod, service));
}

export function* podsOfServices(pods: Pick<Collection, 'values'>): Generator<Pod> {
  for (const pod of pods.values() as Iterable<Pod>) {
    const service = pod.metadata.labels?.[labels.service];
    if (service !== undefined && isPodOf(pod, service)) yield pod;
  }
}
