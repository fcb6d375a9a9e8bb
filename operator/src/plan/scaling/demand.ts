// How many pods a service is to have before anybody asks whether it sleeps or failed: by its spec, its schedules and its
// budget.

import type { LlmServiceStatus } from '@llmservice/crds';
import type { Pod } from '../../kube/types.js';
import type { WantedService } from '../../domain/wanted-service.js';
import { heldDevices, spendingAt, type Spending } from './budget.js';
import { leadSeconds, warmthAt, type Warmth } from './schedules.js';
import { wantedReplicas } from './wanted-replicas.js';

export interface Demand {
  readonly replicas: number;
  readonly warmth: Warmth;
  /** Null: there is no budget. */
  readonly spending: Spending | null;
  /** The budget is spent, and stops the service. */
  readonly overBudget: boolean;
}

/** Of a service whose spec cannot be followed. */
export const idleDemand: Omit<Demand, 'replicas'> = {
  warmth: { minReplicas: 0, active: [], recheckMs: null },
  spending: null,
  overBudget: false,
};

/** @param now RFC 3339, to the second */
export function planDemand(
  service: WantedService,
  before: LlmServiceStatus,
  pods: readonly Pod[],
  now: string,
): Demand {
  const { spec, accelerator } = service;
  const lead = leadSeconds(before.lastLoad?.seconds ?? null);
  const warmth = warmthAt(spec.scaling.schedules ?? [], before.activeSchedules ?? [], lead, new Date(now));
  const spending = spendingAt(
    spec.budget,
    before.budget ?? null,
    heldDevices(pods, accelerator.devices),
    now,
  );
  const overBudget = spending?.state === 'over' && spec.budget.action === 'stop';
  const asked = wantedReplicas(service);
  // Who sets replicas to 0 means it.
  const replicas = asked === 0 || overBudget ? 0 : Math.max(asked, warmth.minReplicas);
  return { replicas, warmth, spending, overBudget };
}
