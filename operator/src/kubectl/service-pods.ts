// The pods of a service, and which of them a person means.

import { labels } from '@llmservice/crds';
import { collectionPath, resources } from '../kube/resources.js';
import { orClusterError, type Connection } from '../kube/connect.js';
import type { Pod } from '../kube/types.js';
import { podRevision } from '../status/pod-state.js';

/** Newest first. @throws ClusterError */
export async function podsOf({ client, namespace }: Connection, service: string): Promise<Pod[]> {
  const labelSelector = `${labels.service}=${service}`;
  const path = collectionPath(resources.pods, namespace);
  const found = await orClusterError(() => client.listAll<Pod>(path, { labelSelector }));
  return found.sort((a, b) => createdAt(b) - createdAt(a));
}

/** Those of the revision of the newest one. @param pods newest first */
export function newestRevision(pods: readonly Pod[]): Pod[] {
  const [newest] = pods;
  if (newest === undefined) return [];
  const revision = podRevision(newest);
  return pods.filter((pod) => podRevision(pod) === revision);
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
}
