// Pods of a canary and of the stable revision, distinguished by their revision, and by the hash that the Deployment's
// controller gives the pods of each ReplicaSet.

import { annotations } from '@llmservice/crds';
import { hasEnded } from '../../kube/has-ended.js';
import type { Pod } from '../../kube/types.js';

/** As the Deployment's controller sets it. */
export const podHashLabel = 'pod-template-hash';

/** Those that are to stay. */
export function living(pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !hasEnded(pod));
}

export function ofRevision({ metadata }: Pod, revision: string | undefined): boolean {
  return revision !== undefined && metadata.annotations?.[annotations.revision] === revision;
}

export function isReadyPod({ status }: Pod): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

/** The one that all have; null: they have several, or there are none. */
export function hashOf(pods: readonly Pod[]): string | null {
  const hashes = new Set(pods.map(({ metadata }) => metadata.labels?.[podHashLabel]));
  const [hash] = hashes;
  return hashes.size === 1 && hash !== undefined ? hash : null;
}
