// What pods beside those that replicas count take: a canary's, or prefill pods. Pure.

import type { WantedService } from '../domain/wanted-service.js';

/** Of all of them. */
export interface PodShare {
  readonly pods: number;
  /** 0 on the CPU. */
  readonly devices: number;
  /** Null: nobody said how much a device has. */
  readonly memoryBytes: number | null;
}

export interface PodShares {
  /** Of a change of the pods while it is tried; null: it is not tried. */
  readonly canary: PodShare | null;
  /** Null: every pod computes its own prompts. */
  readonly prefill: PodShare | null;
}

export function podShares(service: WantedService): PodShares {
  const { canary, disaggregation } = service.spec;
  return {
    canary: canary === undefined ? null : shareOf(service, canary.replicas),
    prefill: disaggregation === undefined ? null : shareOf(service, disaggregation.prefill.replicas),
  };
}

function shareOf({ accelerator }: WantedService, pods: number): PodShare {
  const { kind, devices, memoryBytesPerDevice } = accelerator;
  return {
    pods,
    devices: kind === 'cpu' ? 0 : pods * devices,
    memoryBytes:
      memoryBytesPerDevice === null ? null : pods * (kind === 'cpu' ? 1 : devices) * memoryBytesPerDevice,
  };
}
