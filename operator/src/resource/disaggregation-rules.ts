// Rules of prefill and decode apart that neither schema nor CEL can state: what prefill pods may have otherwise than decode pods.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';
import { isAmount, parseQuantity } from './quantity.js';

export function disaggregationViolations(spec: LlmServiceSpec): Violation[] {
  const { accelerator, disaggregation, resources } = spec;
  const own = disaggregation?.prefill.resources?.limits?.['memory'];
  const shared = resources?.limits?.['memory'];
  const onCpu = accelerator.resourceName === 'none' && accelerator.profile === undefined;
  if (own === undefined || shared === undefined || !onCpu) return [];
  const [ownBytes, sharedBytes] = [parseQuantity(own), parseQuantity(shared)];
  if (!isAmount(ownBytes) || !isAmount(sharedBytes) || ownBytes >= sharedBytes) return [];
  return [
    {
      path: 'spec.disaggregation.prefill.resources.limits.memory',
      message:
        `is ${String(own)}, less than spec.resources.limits.memory (${String(shared)}), with which the KV cache of all pods ` +
        `is planned on the CPU: set ${String(shared)} or more, or remove it`,
    },
  ];
}
