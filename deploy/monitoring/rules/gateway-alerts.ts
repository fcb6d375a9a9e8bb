// What is wrong with gateways of models and their routers.

import { jobs } from '../series.js';
import { alert, type RuleGroup } from './rule.js';

const theGateway = 'LlmGateway {{ $labels.namespace }}/{{ $labels.gateway }}';
const requests = (more: string): string =>
  `sum by (namespace, gateway, model) (rate(llmservice_router_requests_total{${jobs.routers}${more}}[5m]))`;
/** No pod of the service took the request, nor one of its fallbacks. */
const unanswered = ',outcome=~"unreached|failed|unverified"';

export const gatewayGroups: readonly RuleGroup[] = [
  {
    name: 'llmservice-gateways',
    rules: [
      alert('LlmGatewayModelUnanswered', {
        severity: 'critical',
        for: '5m',
        expr: `${requests(unanswered)}\n/\n${requests('')} > 0.1`,
        summary: `${theGateway} gets no answer for {{ $labels.model }} to {{ $value | humanizePercentage }} of requests`,
        description: 'No pod of its service takes them, nor one of its fallbacks.',
      }),
      alert('LlmGatewayFallsBack', {
        severity: 'warning',
        for: '15m',
        expr: `${requests(',outcome=~"fallback_.*"')}\n/\n${requests('')} > 0.1`,
        summary: `${theGateway} answers {{ $value | humanizePercentage }} of requests for {{ $labels.model }} by another model`,
        description: 'Pods of its own service cannot be reached, or answer 503.',
      }),
      alert('LlmGatewayWithoutModels', {
        severity: 'critical',
        for: '5m',
        expr: `max by (namespace, gateway) (llmservice_router_models{${jobs.routers}}) == 0`,
        summary: `${theGateway} has no model`,
        description:
          'Every request is answered by 404. No service is named or selected, or what is named does not exist.',
      }),
    ],
  },
];
