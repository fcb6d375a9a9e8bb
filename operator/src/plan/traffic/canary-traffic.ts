// What of a route's requests the canary gets: answered by it, as copies whose answers nobody sees, or by the header with
// which a client chooses.

import { headers } from '@llmservice/crds';
import type { Canary } from '../canary/canary.js';
import { canaryName } from '../../kube/canary-name.js';

export interface CanaryTraffic {
  /** Its Service. */
  readonly service: string;
  readonly weight: number;
  readonly mirrorPercent: number;
}

/** Null: none, as long as it has no pod that answers, and once it has become the stable revision. */
export function canaryTraffic(service: string, canary: Canary): CanaryTraffic | null {
  if (canary.state !== 'trying' || canary.hash === null || canary.stage.phase !== 'step') return null;
  const { weight, mirrorPercent } = canary.stage;
  return { service: canaryName(service), weight, mirrorPercent };
}

/** Whom a rule of a route is for: those who choose the canary, who refuse it, or all others. */
export type Chosen = 'always' | 'never' | null;

export const canaryHeader = headers.canary;

/** What the canary answers of a rule's requests. */
export function weightFor(chosen: Chosen, { weight }: CanaryTraffic): number {
  if (chosen === null) return weight;
  return chosen === 'always' ? 100 : 0;
}

/** What is copied of a rule's requests. */
export function mirrorFor(chosen: Chosen, { mirrorPercent }: CanaryTraffic): number {
  return chosen === null ? mirrorPercent : 0;
}
