// The pods of a service, and which of them a person means.

import { labels } from '@llmservice/crds';
import { collectionPath, resources } from '../kube/resources.js';
import { orClusterError, type Connection } from '../kube/connect.js';
import type { Pod } from '../kube/types.js';
import { podRevision } from '../status/pod-state.js';

/** Those that answer clients, newest first. @throws ClusterError */
export function podsOf(connection: Connection, service: string): Promise<Pod[]> {
  return labelled(connection, `${labels.service}=${service}`);
}

/** Those that compute prompts for them, newest first. @throws ClusterError */
export function prefillPodsOf(connection: Connection, service: string): Promise<Pod[]> {
  return labelled(connection, `${labels.prefill}=${service}`);
}

async function labelled({ client, namespace }: Connection, labelSelector: string): Promise<Pod[]> {
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
