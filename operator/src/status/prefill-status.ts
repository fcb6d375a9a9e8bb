// What the status says of prefill pods. A service without any that is ready serves all the same, since decode pods then compute
// the prompts: no condition becomes False for their sake, and Ready says what is the matter. Pure.

import type { LlmServiceStatus } from '@llmservice/crds';
import type { Deployment, Pod } from '../kube/types.js';
import { podCondition, worstFailure } from './pod-state.js';

export interface PrefillPods {
  /** By the spec. */
  readonly wanted: number;
  readonly deployment: Deployment | null;
  readonly pods: readonly Pod[];
}

export function prefillStatus(prefill: PrefillPods | null): Pick<LlmServiceStatus, 'prefill'> {
  if (prefill === null) return {};
  const { replicas = 0, readyReplicas = 0 } = prefill.deployment?.status ?? {};
  return { prefill: { replicas, ready: readyReplicas } };
}

/** For people who wonder where their prompts are computed; null: at least one prefill pod is ready, or none is wanted. */
export function withoutPrefill(prefill: PrefillPods | null): string | null {
  const { ready = 0 } = prefillStatus(prefill).prefill ?? {};
  if (prefill === null || prefill.wanted === 0 || ready > 0) return null;
  const why = reasonOf(prefill.pods);
  return `No prefill pod is ready${why === null ? '' : ` (${why})`}: decode pods compute all prompts.`;
}

function reasonOf(pods: readonly Pod[]): string | null {
  const failure = worstFailure(pods);
  if (failure !== null) return `${failure.reason}: ${failure.message}`;
  const waiting = pods
    .map((pod) => podCondition(pod, 'PodScheduled'))
    .find((each) => each?.status === 'False');
  return waiting === undefined ? null : `${waiting.reason ?? 'Unschedulable'}: ${waiting.message ?? ''}`;
}
