// Whether a model fits an engine that is not ours. That engine measures for itself, so that only what cannot be otherwise
// is refused; our own engine's plan, where there is one, is reported as an estimate.

import { formatGiB } from '@llmservice/crds';
import type { Fit } from '../../domain/plan-outcome.js';
import type { WantedService } from '../../domain/wanted-service.js';

/** @param planned what our engine would make of it; null where it lacks the architecture */
export function asEstimate(
  { accelerator, spec, tensor }: WantedService,
  weightBytes: number,
  planned: Fit | null,
): Fit {
  const memoryBytes = accelerator.memoryBytesPerDevice;
  // Quantized while loading, they may take less than they have.
  const perDevice = spec.engine.quantization === 'none' ? weightBytes / tensor : 0;
  if (memoryBytes !== null && perDevice > memoryBytes) {
    const message =
      `the weights alone take ${formatGiB(perDevice)} of each device, ` +
      `which has ${formatGiB(memoryBytes)}`;
    return { state: 'failed', failure: { reason: 'ModelTooLarge', message } };
  }
  if (planned?.state === 'fits') return { ...planned, estimate: true };
  return { state: 'unmeasured', note: notEstimated(planned) };
}

function notEstimated(planned: Fit | null): string {
  if (planned === null) return 'What this architecture takes is not known.';
  if (planned.state === 'failed') return `Our own engine would refuse it: ${planned.failure.message}.`;
  return 'How much memory a device has is not known.';
}
