// The memory plan of a service on its accelerator.

import { planMemory, sharedMemoryNeeded } from '@llmservice/checkpoint';
import { FailureError, type Failure } from '@llmservice/crds';
import type { PlannedCheckpoint } from '../../domain/checkpoint.js';
import type { Fit } from '../../domain/plan-outcome.js';
import type { WantedService } from '../../domain/wanted-service.js';

export function planFit(service: WantedService, { shape, weights }: PlannedCheckpoint): Fit {
  const { accelerator, tensor, pipeline, nodes, spec } = service;
  // Each node has the areas of all ranks, also of those on others.
  if (accelerator.kind === 'cpu' && service.sharedMemoryBytes < sharedMemoryNeeded(tensor, pipeline)) {
    return { state: 'failed', failure: sharedMemoryTooSmall(service) };
  }
  const memoryBytes = accelerator.memoryBytesPerDevice;
  try {
    const plan = planMemory({
      ...spec.engine,
      maxModelLen: spec.engine.maxModelLen ?? null,
      shape,
      adapterRoom: service.adapterRoom,
      accelerator: accelerator.kind,
      weights,
      // Without a size, what does not depend on it (tensor-parallel size, context) is still checked.
      memoryBytes: memoryBytes ?? Number.MAX_SAFE_INTEGER,
      tensor,
      pipeline,
      nodes,
    });
    return memoryBytes === null
      ? { state: 'unmeasured' }
      : { state: 'fits', plan, memoryBytes, devices: accelerator.devices };
  } catch (error) {
    if (error instanceof FailureError) return { state: 'failed', failure: error.failure };
    throw error;
  }
}

function sharedMemoryTooSmall({ tensor, pipeline, sharedMemoryBytes: given }: WantedService): Failure {
  const needed = sharedMemoryNeeded(tensor, pipeline);
  return {
    reason: 'SharedMemoryTooSmall',
    message: `${tensor * pipeline} ranks exchange data over ${needed} bytes of /dev/shm, but spec.sharedMemory.sizeLimit is ${given}`,
    detail: { needed, available: given },
  };
}
