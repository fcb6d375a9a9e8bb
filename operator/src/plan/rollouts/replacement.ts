// How a Deployment replaces its pods, and which of these ways it is set to.

import type { Deployment } from '../../kube/types.js';

/** surge: a new pod first; drain: an old pod first; drainAll: all old pods first, since one leaves too little room. */
export type Replacement = 'surge' | 'drain' | 'drainAll';

export const replacements = {
  surge: { maxSurge: 1, maxUnavailable: 0 },
  drain: { maxSurge: 0, maxUnavailable: 1 },
  drainAll: { maxSurge: 0, maxUnavailable: '100%' },
} as const satisfies Record<Replacement, object>;

export function replacementOf(deployment: Deployment | null): Replacement {
  const { maxSurge, maxUnavailable } = deployment?.spec?.strategy?.rollingUpdate ?? replacements.surge;
  if (maxSurge !== replacements.drain.maxSurge) return 'surge';
  return maxUnavailable === replacements.drainAll.maxUnavailable ? 'drainAll' : 'drain';
}
