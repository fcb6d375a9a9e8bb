// The memory plan of a service on its accelerator.

import { planMemory, sharedMemoryNeeded } from '@llmservice/checkpoint';
import { FailureError, type Failure } from '@llmservice/crds';
import type { PlannedCheckpoint } from '../../domain/checkpoint.js';
import type { Fit } from '../../domain/plan-outcome.js';
import type { WantedService } from '../../domain/wanted-service.js';

export function planFit(service: WantedService, { shape, weights }: PlannedCheckpoint): Fit {
  const { accelerator, tensor, nodes, podRanks, spec } = service;
  if (accelerator.kind === 'cpu' && service.sharedMemoryBytes < sharedMemoryNeeded(podRanks)) {
    return { state: 'failed', failure: sharedMemoryTooSmall(service) };
  }
  const memoryBytes = accelerator.memoryBytesPerDevice;
  // On the CPU the plan divides one memory by all ranks, and each pod brings its own.
  const sharedMemories = accelerator.kind === 'cpu' ? nodes : 1;
  try {
    const plan = planMemory({
      ...spec.engine,
      maxModelLen: spec.engine.maxModelLen ?? null,
      shape,
      adapterRoom: service.adapterRoom,
      accelerator: accelerator.kind,
      weights,
      // Without a size, what does not depend on it (tensor-parallel size, context) is still checked.
      memoryBytes: memoryBytes === null ? Number.MAX_SAFE_INTEGER : memoryBytes * sharedMemories,
      tensor,
    });
    return memoryBytes === null
      ? { state: 'unmeasured' }
      : { state: 'fits', plan, memoryBytes, devices: accelerator.devices };
  } catch (error) {
    if (error instanceof FailureError) return { state: 'failed', failure: error.failure };
    throw error;
  }
}

function sharedMemoryTooSmall({ podRanks, sharedMemoryBytes: given }: WantedService): Failure {
  const needed = sharedMemoryNeeded(podRanks);
  return {
    reason: 'SharedMemoryTooSmall',
    message: `${podRanks} ranks exchange data over ${needed} bytes of /dev/shm, but spec.sharedMemory.sizeLimit is ${given}`,
    detail: { needed, available: given },
  };
}
