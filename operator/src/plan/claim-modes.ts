// Whether a claim may be mounted by as many pods as a service can come to: one that waits for its volume already holds a device.

import type { KnownClaim } from '../domain/checkpoint.js';
import type { Obstacle } from '../domain/plan-outcome.js';
import type { WantedService } from '../domain/wanted-service.js';

export function refusedClaim(
  { spec }: Pick<WantedService, 'spec'>,
  claim: KnownClaim | undefined,
): Obstacle | null {
  if (claim?.onePod !== true) return null;
  const { replicas, scaling, canary, disaggregation, parallelism } = spec;
  const bounds: readonly (readonly [string, number])[] = [
    ['spec.replicas', replicas],
    ['spec.parallelism.nodes', parallelism.nodes],
    ['spec.scaling.maxReplicas', scaling.maxReplicas ?? 0],
    ...(scaling.schedules ?? []).map(
      ({ minReplicas }, at) => [`spec.scaling.schedules[${String(at)}].minReplicas`, minReplicas] as const,
    ),
    ['spec.canary', canary === undefined ? 0 : replicas + canary.replicas],
    ['spec.disaggregation', disaggregation === undefined ? 0 : replicas + disaggregation.prefill.replicas],
  ];
  const [over] = bounds.filter(([, pods]) => pods > 1);
  if (over === undefined) return null;
  const [field, pods] = over;
  return {
    reason: 'ClaimUnusable',
    message:
      `${field} may come to ${String(pods)} pods, but the access modes of the claim ${claim.name} keep pods on several nodes ` +
      'from mounting it. Use a claim with ReadOnlyMany or ReadWriteMany, or one pod.',
    terminal: true,
  };
}
