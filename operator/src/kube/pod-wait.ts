// What a pod waits for before it has a node, apart from room on one.

import type { Pod } from './types.js';

/** Kueue's, on pods that it has not admitted. */
const queueGate = 'kueue.x-k8s.io/admission';

/** In the scheduler's words about nodes without the devices of a pod's claims. */
export const noRoomForClaim = 'cannot allocate all claims';

export function isQueued({ spec }: Pod): boolean {
  return spec?.schedulingGates?.some(({ name }) => name === queueGate) === true;
}

/** What somebody has to remove before the scheduler places the pod. */
export function gatesOf({ spec }: Pod): string[] {
  return spec?.schedulingGates?.map(({ name }) => name) ?? [];
}
