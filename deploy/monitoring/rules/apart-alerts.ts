// What costs no request and still is not as somebody asked for it: prefill pods that compute no prompts, and InferencePools that
// completions do not go through.

import { jobs } from '../series.js';
import { alert, theService, type RuleGroup } from './rule.js';

const by = 'by (namespace, service)';
/** Without those that clients ended. */
const fallbacks = `llmservice_prefill_fallbacks_total{${jobs.services},reason!="cancelled"}`;
const asked = `(sum ${by} (rate(llmservice_prefill_prompts_total{${jobs.services}}[5m])) + sum ${by} (rate(${fallbacks}[5m])))`;

export const apartGroups: readonly RuleGroup[] = [
  {
    name: 'llmservice-prefill',
    rules: [
      alert('LlmServicePrefillGone', {
        severity: 'warning',
        // As of services that are not Ready: loads take their time.
        for: '30m',
        expr: `max ${by} (llmservice_service_prefill_ready) == 0\nand on (namespace, service) max ${by} (llmservice_service_prefill_wanted) > 0`,
        summary: `${theService} has no prefill pod that is ready`,
        description: 'Decode pods compute all prompts, and streams beside long ones stall.',
      }),
      alert('LlmServicePrefillFallsBack', {
        severity: 'warning',
        for: '15m',
        // Prompts count as `noPod` where no prefill pods are wanted, and while all load, of which the rule before says more.
        expr: `sum by (namespace, service, reason) (rate(${fallbacks}[5m]))\n/ on (namespace, service) group_left ()\n${asked} > 0.2\nunless on (namespace, service) max ${by} (llmservice_service_prefill_ready) == 0`,
        summary: `${theService}: decode pods compute {{ $value | humanizePercentage }} of long prompts themselves ({{ $labels.reason }})`,
        description:
          'Prefill pods were to compute them. Answers are the same, and streams beside them stall.',
      }),
    ],
  },
  {
    name: 'llmservice-pools',
    rules: [
      alert('LlmServicePoolUnused', {
        severity: 'warning',
        for: '15m',
        expr: `max by (namespace, service, reason) (llmservice_service_routed{reason=~"InferencePool.+|EndpointPicker.+|DestinationRule.+"}) >= 0`,
        summary: `${theService}: completions do not go through its InferencePool ({{ $labels.reason }})`,
        description: 'They go to the pods in turn, and find fewer prefixes in caches.',
      }),
    ],
  },
];
