// Which evictions would leave a service without a pod that answers, and which pod answers for one that goes. Pure.

import { groupPlace, isWorker } from '../kube/group-pods.js';
import { serviceKeyOf } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { isReady } from '../status/pod-state.js';

/** Services, as NAMESPACE/NAME, of which no other pod that answers is ready; with a pod of a group, the group goes. */
export function leftWithout(going: readonly Pod[], all: readonly Pod[]): string[] {
  const names = new Set(going.map(({ metadata }) => metadata.uid));
  const groups = new Set(going.map(groupOf).filter((group) => group !== null));
  const stays = (pod: Pod): boolean =>
    isReady(pod) && !isWorker(pod) && !names.has(pod.metadata.uid) && !groups.has(groupOf(pod) ?? '');
  const services = new Set(going.filter(isReady).map(serviceKeyOf));
  return [...services]
    .filter((service) => service !== null)
    .filter((service) => !all.some((pod) => serviceKeyOf(pod) === service && stays(pod)));
}

/** Whose generations end with a pod: its own, or where it computes ranks for a leader, that one's. */
export function answeringFor(pod: Pod, all: readonly Pod[]): Pod {
  if (!isWorker(pod)) return pod;
  const group = groupOf(pod);
  return all.find((each) => groupOf(each) === group && !isWorker(each)) ?? pod;
}

/** NAMESPACE/GROUP; null: it is of none. */
function groupOf(pod: Pod): string | null {
  const place = groupPlace(pod);
  return place === null ? null : `${pod.metadata.namespace ?? ''}/${place.group}`;
}
