// Requests and limits of the runtime container: what the user said, the device, and what the checkpoint needs.

import type { V1ResourceRequirements } from '@kubernetes/client-node';
import type { MemoryPlan } from '@llmservice/checkpoint';
import type { WantedService } from '../../domain/wanted-service.js';
import { formatMi, parseQuantity } from '../../resource/quantity.js';
import { isImageVolume } from '../../resource/store-access.js';
import { deviceAmounts, withClaims } from './device-claim.js';

/** What pods depend on of the resolved checkpoint. */
export interface CheckpointSize {
  /** Bytes of all files that a pod pulls. */
  readonly fileBytes: number;
  /** Packed weights where one rank holds all. */
  readonly weightBytes: number;
  /** Of the artifact, where the kubelet pulls it: sha256:HEX. Absent: not known. */
  readonly imageDigest?: string;
}

type Amounts = Record<string, string | number>;

/** The API takes numbers as amounts too, which its types do not say. */
export function requirementsOf(given: { requests: Amounts; limits: Amounts }): V1ResourceRequirements {
  return given as V1ResourceRequirements;
}

const gib = 2 ** 30;

export function planResources(
  service: WantedService,
  size: CheckpointSize,
  plan: MemoryPlan | null,
): V1ResourceRequirements {
  const { spec } = service;
  const device: Amounts = deviceAmounts(service);
  const given = spec.resources?.limits ?? {};
  const limits: Amounts = { ...hostLimit(service), ...given, ...device };
  // What a cache or the kubelet holds is not the pod's; neither ever holds adapters.
  const isPulled = service.cache === null && !isImageVolume(service);
  const ownBytes = (isPulled ? size.fileBytes : 0) + adapterFileBytes(service, plan);
  const requests: Amounts = {
    memory: given['memory'] ?? formatMi(defaultMemoryBytes(service, size, plan)),
    ...(ownBytes > 0 ? { 'ephemeral-storage': limits['ephemeral-storage'] ?? formatMi(ownBytes) } : {}),
    ...spec.resources?.requests,
    ...device,
  };
  return withClaims(service, requirementsOf({ requests, limits }));
}

/**
 * Of as many adapters as there is room for, so that the list may change while pods run. Files have at most 4 bytes for each
 * value, the plan has 2 or more.
 */
function adapterFileBytes({ tensor }: WantedService, plan: MemoryPlan | null): number {
  const { bytes = 0 } = plan?.rows.find(({ name }) => name === 'adapters') ?? {};
  return 2 * bytes * tensor;
}

/**
 * With devices, what a pod's host memory may come to at most: weights and KV cache are not in it, so that only a fault or
 * hostile requests reach it, and then end this pod and no other. What is read from disk is no part of it, since the
 * kernel gives that back. On the CPU the engine plans with a limit that it is given, and nobody knows the node's.
 */
function hostLimit({ spec, accelerator, podRanks, sharedMemoryBytes }: WantedService): Amounts {
  if (accelerator.kind === 'cpu') return {};
  const bytes = 8 * gib + 4 * gib * podRanks + sharedMemoryBytes;
  // A limit below the request would be refused.
  const requested = parseQuantity(spec.resources?.requests?.['memory'] ?? 0) ?? 0;
  return { memory: formatMi(Math.max(bytes, requested)) };
}

/** Host memory: all that the engine holds on the CPU; with devices the loading windows and the processes other than the engine. */
function defaultMemoryBytes(service: WantedService, size: CheckpointSize, plan: MemoryPlan | null): number {
  if (service.accelerator.kind !== 'cpu') return 4 * gib + service.sharedMemoryBytes;
  // The plan is one rank's; all ranks of a pod share its memory.
  if (plan !== null) {
    const perRank = plan.rows.reduce((sum, row) => (row.name === 'free' ? sum : sum + row.bytes), 0);
    return perRank * service.podRanks;
  }
  return Math.ceil(size.weightBytes / service.nodes) + gib + service.sharedMemoryBytes;
}
