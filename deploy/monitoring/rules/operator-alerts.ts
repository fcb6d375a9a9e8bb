// What is wrong with the operator and its activators.

import { filledIn, jobs } from '../series.js';
import { alert, type RuleGroup } from './rule.js';

const here = (job: string): string => `${job},namespace="${filledIn.namespace}"`;
const operator = here(jobs.operator);
const activator = here(jobs.activator);

/** For where they are scraped alone: elsewhere it would fire for ever. */
export const absentOperatorGroups: readonly RuleGroup[] = [
  {
    name: 'llmservice-operator-absent',
    rules: [
      alert('LlmOperatorNoLeader', {
        severity: 'critical',
        for: '5m',
        expr: `absent(llmservice_operator_leader{${operator}} == 1)`,
        summary: 'No LlmService operator leads',
        description: 'Pods that serve keep serving. Nothing rolls out, scales, sleeps or wakes.',
      }),
    ],
  },
];

export const operatorGroups: readonly RuleGroup[] = [
  {
    name: 'llmservice-operator',
    rules: [
      alert('LlmOperatorBlind', {
        severity: 'critical',
        for: '5m',
        expr: `min(llmservice_operator_ready{${operator}}) == 0`,
        summary: 'The LlmService operator leads and does not see the cluster',
        description: 'Its /readyz names the kinds that it cannot watch.',
      }),
      alert('LlmOperatorReconcileErrors', {
        severity: 'warning',
        for: '15m',
        expr: `sum(rate(llmservice_operator_reconcile_total{${operator},result="error"}[5m]))\n/\nsum(rate(llmservice_operator_reconcile_total{${operator}}[5m])) > 0.1`,
        summary: '{{ $value | humanizePercentage }} of reconciles fail',
        description: 'The operator tries again. Its log names the services and the errors.',
      }),
      alert('LlmOperatorQueueStuck', {
        severity: 'warning',
        for: '15m',
        expr: `min_over_time(llmservice_operator_queue_depth{${operator}}[5m]) > 0\nunless on (pod) rate(llmservice_operator_reconcile_total{${operator},result="success"}[5m]) > 0`,
        summary: '{{ $value }} services wait for a reconcile, and none ends',
        description: 'The API server does not answer, or a reconcile hangs.',
      }),
      alert('LlmOperatorForbidden', {
        severity: 'warning',
        for: '15m',
        expr: `max by (resource) (llmservice_operator_unserved_resource{${jobs.operator},why="forbidden"}) == 1`,
        summary: 'The operator may not read {{ $labels.resource }}',
        description: 'What needs this kind is not planned.',
      }),
    ],
  },
];

/** Likewise. */
export const absentActivatorGroups: readonly RuleGroup[] = [
  {
    name: 'llmservice-activator-absent',
    rules: [
      alert('LlmActivatorDown', {
        severity: 'critical',
        for: '5m',
        expr: `absent(llmservice_activator_held{${activator}})`,
        summary: 'No activator is scraped: services that sleep may not wake',
        description: 'Services that have pods are not affected.',
      }),
    ],
  },
];

/** Of services that may fall asleep. Its own refusals of services that are stopped or have failed are not its fault. */
export const activatorGroups: readonly RuleGroup[] = [
  {
    name: 'llmservice-activator',
    rules: [
      alert('LlmActivatorRefuses', {
        severity: 'warning',
        for: '5m',
        expr: `sum by (reason) (rate(llmservice_activator_refused_total{${activator},reason=~"model_not_ready|queue_full|upstream_failed|upstream_unverified"}[5m])) > 0`,
        summary: 'The activator refuses requests to services that sleep: {{ $labels.reason }}',
        description: '{{ $value | humanize }} requests a second.',
      }),
    ],
  },
];
