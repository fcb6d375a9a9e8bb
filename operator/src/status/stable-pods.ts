// The pods that answer for a service: those of a canary do not, while the service's own Deployment stays as it is.

import type { Pod } from '../kube/types.js';
import { holdsStable, stageOf } from '../plan/canary/canary.js';
import type { Observed } from './observed.js';
import { podRevision } from './pod-state.js';

export function stablePods({ pods, canary }: Pick<Observed, 'pods' | 'canary'>): readonly Pod[] {
  if (!holdsStable(canary)) return pods;
  const tried = stageOf(canary)?.revision;
  return pods.filter((pod) => podRevision(pod) !== tried);
}
