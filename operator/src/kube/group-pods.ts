// The pods of a LeaderWorkerSet by the labels that its controller gives them: which group a pod is of, and whether it leads it.

import { groupLabels } from '@llmservice/crds';
import { groupSetName } from './group-set-name.js';
import type { Pod } from './types.js';

export interface GroupPlace {
  readonly set: string;
  /** Name of the group, which is that of its leader's pod. */
  readonly group: string;
  /** 0: the leader. */
  readonly worker: number;
}

/** Null: it is of no group. */
export function groupPlace({ metadata }: Pick<Pod, 'metadata'>): GroupPlace | null {
  const {
    [groupLabels.set]: set,
    [groupLabels.group]: index,
    [groupLabels.worker]: worker,
  } = metadata.labels ?? {};
  if (set === undefined || index === undefined || worker === undefined) return null;
  return { set, group: `${set}-${index}`, worker: Number(worker) };
}

/** Whether it computes ranks for a leader, and answers no requests itself. */
export function isWorker(pod: Pick<Pod, 'metadata'>): boolean {
  return (groupPlace(pod)?.worker ?? 0) > 0;
}

/** A StatefulSet named as the set controls the leaders, and one named as the group its workers. */
export function isGroupPodOf(pod: Pick<Pod, 'metadata'>, service: string): boolean {
  const place = groupPlace(pod);
  const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (place === null || controller?.kind !== 'StatefulSet' || place.set !== groupSetName(service))
    return false;
  return controller.name === (place.worker === 0 ? place.set : place.group);
}
