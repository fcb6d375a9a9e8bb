// When a service that nobody asks anything falls asleep, that is goes without pods, and when it wakes. Asleep it is only
// where something else takes requests: the activator, whose endpoints stand before the last pod goes and stay until one
// answers again. What is known only here of a sleep is kept on the Deployment, so that it survives the operator.

import { annotations } from '@llmservice/crds';
import type { Deployment } from '../../kube/types.js';
import type { WantedService } from '../../domain/wanted-service.js';
import type { Idleness } from './idleness.js';
import type { Demand } from './demand.js';

export interface SleepMark {
  /** RFC 3339. */
  readonly since: string;
  /** What was wanted when it fell asleep: any other generation wakes it. */
  readonly generation: number;
  /**
   * What stood in the activators' annotation when it fell asleep: any other value wakes it. Compared, not ordered: the
   * clocks of activators and operator may differ.
   */
  readonly lastRequest: string;
}

export type Sleep =
  /** Nobody asked for it. */
  | { readonly state: 'never' }
  /** `note`: why it does not fall asleep, where that is no matter of time. */
  | { readonly state: 'awake'; readonly note: string | null; readonly recheckMs: number | null }
  /** The activator's endpoints are made; pods are still there. */
  | { readonly state: 'falling' }
  | { readonly state: 'asleep'; readonly mark: SleepMark };

export interface SleepInputs {
  readonly service: WantedService;
  readonly demand: Pick<Demand, 'overBudget' | 'warmth'>;
  readonly wantedReplicas: number;
  /** Null: it is awake. */
  readonly mark: SleepMark | null;
  /** All pods that are wanted answer, there are no others, and nothing is given up. */
  readonly settled: boolean;
  readonly idleness: Idleness;
  /** How many pods of the activator answer. */
  readonly activators: number;
  /** Why they cannot take requests of the service; null: they can. */
  readonly uncoverable: string | null;
  /** The activator's endpoints are in the cluster. */
  readonly covered: boolean;
  /** RFC 3339. */
  readonly now: string;
}

export function planSleep(inputs: SleepInputs): Sleep {
  const { service, demand, wantedReplicas, mark, settled, idleness, activators, covered, now } = inputs;
  const { uncoverable } = inputs;
  const { generation, lastRequest, spec } = service;
  const { idleAfterSeconds } = spec.scaling;
  if (idleAfterSeconds === undefined || wantedReplicas === 0) return { state: 'never' };
  const warm = demand.warmth.minReplicas > 0;
  if (!warm && mark !== null && mark.generation === generation && mark.lastRequest === lastRequest) {
    return { state: 'asleep', mark };
  }
  const awake = (note: string | null, recheckMs: number | null = null): Sleep => ({
    state: 'awake',
    note,
    recheckMs,
  });
  if (warm || mark !== null || !settled || canShrink(service)) return awake(null);
  if (spec.auth.keysSecretRef !== undefined && spec.auth.protectMetrics) return awake(behindKeys);
  if (idleness.state === 'unseen') return awake(`It does not fall asleep: ${idleness.message}.`);
  if (uncoverable !== null) return awake(uncoverable);
  if (activators === 0) return awake(noActivator);
  if (idleness.state !== 'idle') return awake(null);
  const leftMs = idleAfterSeconds * 1000 - idleness.forMs;
  if (leftMs > 0) return awake(null, leftMs);
  return covered ? { state: 'asleep', mark: { since: now, generation, lastRequest } } : { state: 'falling' };
}

/** Scaling by load has not come down yet: what it writes to the spec would wake the service. */
function canShrink({ spec: { replicas, scaling } }: WantedService): boolean {
  return scaling.maxReplicas !== undefined && replicas > (scaling.minReplicas ?? 1);
}

const behindKeys =
  'It does not fall asleep: auth.protectMetrics keeps /metrics behind keys, so that nobody can say whether it is idle.';
const noActivator =
  'It does not fall asleep: no pod of the activator is ready to take its requests. Install the operator with activator.enabled.';

/** Null: awake, or what is written there is nothing that the operator wrote. */
export function readSleepMark(deployment: Deployment | null): SleepMark | null {
  try {
    const mark = JSON.parse(
      deployment?.metadata.annotations?.[annotations.asleep] ?? '',
    ) as Partial<SleepMark>;
    const { since, generation, lastRequest } = mark;
    if (typeof since !== 'string' || typeof generation !== 'number' || typeof lastRequest !== 'string') {
      return null;
    }
    return { since, generation, lastRequest };
  } catch {
    return null;
  }
}

/** How long a pod answers before the activator's endpoints go: until endpoints everywhere know the pod. */
export const handoverMs = 5_000;

/**
 * Whether the activator takes requests of the service.
 * @param answeringMs for how long a pod has answered; null: none does
 */
export function needsActivator(
  { service, demand, wantedReplicas }: Pick<SleepInputs, 'service' | 'demand' | 'wantedReplicas'>,
  sleep: Sleep,
  covered: boolean,
  answeringMs: number | null,
): boolean {
  if (sleep.state === 'asleep' || sleep.state === 'falling') return true;
  // It answers who asks that the budget is spent.
  if (demand.overBudget && !service.spec.stop && service.spec.replicas > 0) {
    return service.spec.scaling.idleAfterSeconds !== undefined;
  }
  return covered && wantedReplicas > 0 && (answeringMs === null || answeringMs < handoverMs);
}
