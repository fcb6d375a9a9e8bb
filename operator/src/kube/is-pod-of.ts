import { canaryName } from './canary-name.js';
import { isGroupPodOf } from './group-pods.js';
import { prefillName } from './prefill-name.js';
import type { Pod } from './types.js';

/** As the Deployment's controller sets it on the pods of each ReplicaSet. */
const hashLabel = 'pod-template-hash';

/**
 * Whether a pod is of the Deployment, of its canary's or of the service's groups, and not one that only has its labels: a ReplicaSet NAME-HASH or
 * NAME-canary-HASH controls it, where HASH is its own label. Nobody has to read ReplicaSets for that: the garbage collector removes a pod whose controller is
 * not there by its uid, and a ReplicaSet takes for its own what names its uid.
 */
export function isPodOf(pod: Pod, deployment: string): boolean {
  return isGroupPodOf(pod, deployment) || isOfAny(pod, [deployment, canaryName(deployment)]);
}

/** Whether a pod is one of the service's prefill pods, and not one that only has their label. */
export function isPrefillPodOf(pod: Pod, service: string): boolean {
  return isOfAny(pod, [prefillName(service)]);
}

function isOfAny({ metadata }: Pod, deployments: readonly string[]): boolean {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  const hash = metadata.labels?.[hashLabel];
  if (controller?.kind !== 'ReplicaSet' || hash === undefined) return false;
  return deployments.some((name) => controller.name === `${name}-${hash}`);
}
