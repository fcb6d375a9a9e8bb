// What applying objects would change in a cluster: of the fields that they name, those that are otherwise there.

import { differences, type Difference } from '../apply/needs-apply.js';
import type { KubeObject } from '../kube/types.js';
import type { Cluster } from './cluster.js';

export interface ObjectChange {
  readonly kind: string;
  readonly name: string;
  readonly change: 'create' | 'update' | 'none';
  readonly differences: readonly Difference[];
}

/** @throws ClusterError */
export async function changesOf(objects: readonly KubeObject[], cluster: Cluster): Promise<ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const object of objects) {
    const { kind, metadata } = object;
    const live = await cluster.live(object);
    const found = live === null ? [] : differences(object, live);
    const change = live === null ? 'create' : found.length === 0 ? 'none' : 'update';
    changes.push({ kind, name: metadata.name, change, differences: found });
  }
  return changes;
}
