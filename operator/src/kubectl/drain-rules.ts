// Which evictions would leave a service without a pod that answers. Pure.

import { serviceKeyOf } from '../kube/resources.js';
import type { Pod } from '../kube/types.js';
import { isReady } from '../status/pod-state.js';

/** Services, as NAMESPACE/NAME, of which no other pod than those that go is ready. */
export function leftWithout(going: readonly Pod[], all: readonly Pod[]): string[] {
  const names = new Set(going.map(({ metadata }) => metadata.uid));
  const services = new Set(going.filter(isReady).map(serviceKeyOf));
  return [...services]
    .filter((service) => service !== null)
    .filter(
      (service) =>
        !all.some((pod) => serviceKeyOf(pod) === service && isReady(pod) && !names.has(pod.metadata.uid)),
    );
}
