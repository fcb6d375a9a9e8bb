// Requests and limits of the runtime container: what the user said, the device, and what the checkpoint needs.

import type { MemoryPlan } from '@llmservice/crds';
import type { WantedService } from '../../spec/parse-spec.js';
import { formatMi } from '../../spec/quantity.js';

/** Figures of the resolved checkpoint. */
export interface CheckpointSize {
  /** Bytes of all files that a pod pulls. */
  readonly fileBytes: number;
  /** Packed weights where one rank holds all. */
  readonly weightBytes: number;
}

type Amounts = Record<string, string | number>;

const gib = 2 ** 30;

export function planResources(
  service: WantedService,
  size: CheckpointSize,
  plan: MemoryPlan | null,
): { requests: Amounts; limits: Amounts } {
  const { spec, accelerator } = service;
  const device: Amounts =
    accelerator.resourceName === null ? {} : { [accelerator.resourceName]: String(accelerator.devices) };
  const limits: Amounts = { ...spec.resources?.limits, ...device };
  const requests: Amounts = {
    memory: limits['memory'] ?? formatMi(defaultMemoryBytes(service, size, plan)),
    // What a cache holds is not the pod's.
    ...(service.cache === null
      ? { 'ephemeral-storage': limits['ephemeral-storage'] ?? formatMi(size.fileBytes) }
      : {}),
    ...spec.resources?.requests,
    ...device,
  };
  return { requests, limits };
}

/** Host memory: all that the engine holds on the CPU; with devices the loading windows and the two Node processes. */
function defaultMemoryBytes(service: WantedService, size: CheckpointSize, plan: MemoryPlan | null): number {
  if (service.accelerator.kind !== 'cpu') return 4 * gib + service.sharedMemoryBytes;
  // The plan is one rank's; all ranks share the pod's memory.
  if (plan !== null) {
    const perRank = plan.rows.reduce((sum, row) => (row.name === 'free' ? sum : sum + row.bytes), 0);
    return perRank * service.tensor;
  }
  return size.weightBytes + gib + service.sharedMemoryBytes;
}
