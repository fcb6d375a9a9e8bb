// How large a service is whose checkpoint cannot be judged.

import { roughEstimate, type RoughEstimate } from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { CheckpointSource } from '../preflight/preflight.js';
import { weighFiles } from '../preflight/weigh-files.js';
import type { WantedService } from '../domain/wanted-service.js';

/** Null where there are no weight files either. */
export async function estimateOf(
  service: WantedService,
  places: CheckpointSource,
): Promise<RoughEstimate | null> {
  const { checkpoint, accelerator, spec } = service;
  try {
    const folders = await places.open(service);
    try {
      const bytes = await weighFiles(folders.at(checkpoint), checkpoint.file);
      const { memoryUtilizationPercent } = spec.engine;
      return bytes === 0
        ? null
        : roughEstimate(bytes, accelerator.memoryBytesPerDevice, memoryUtilizationPercent);
    } finally {
      folders.close();
    }
  } catch (error) {
    if (error instanceof FailureError) return null;
    throw error;
  }
}
