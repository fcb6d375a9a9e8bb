// Of the operator and its activators.

import type { AlertCase } from './alert-case.js';

const operator = 'job="llmservice-operator",namespace="llmservice-system",pod="operator-1"';
const activator = 'job="llmservice-activator",namespace="llmservice-system",pod="activator-1"';
const reconciles = (result: string): string =>
  `llmservice_operator_reconcile_total{${operator},result="${result}"}`;
const depth = `llmservice_operator_queue_depth{${operator}}`;
const refused = (reason: string): string =>
  `llmservice_activator_refused_total{${activator},reason="${reason}"}`;
const unserved = (why: string): string =>
  `llmservice_operator_unserved_resource{job="llmservice-operator",namespace="a",resource="pods",why="${why}"}`;

export const operatorCases: readonly AlertCase[] = [
  {
    alert: 'LlmOperatorNoLeader',
    after: 10,
    labels: {},
    fires: { [`llmservice_operator_leader{${operator}}`]: '0x10' },
    quiet: {
      'a leader beside one that waits': {
        [`llmservice_operator_leader{${operator}}`]: '0x10',
        [`llmservice_operator_leader{${operator.replace('-1', '-2')}}`]: '1x10',
      },
    },
  },
  {
    alert: 'LlmOperatorBlind',
    after: 10,
    labels: {},
    fires: { [`llmservice_operator_ready{${operator}}`]: '0x10' },
    quiet: { 'an operator that sees': { [`llmservice_operator_ready{${operator}}`]: '1x10' } },
  },
  {
    alert: 'LlmOperatorReconcileErrors',
    after: 25,
    labels: {},
    fires: { [reconciles('error')]: '0+1x25', [reconciles('success')]: '0+4x25' },
    quiet: { 'an error among many': { [reconciles('error')]: '0+1x25', [reconciles('success')]: '0+40x25' } },
  },
  {
    alert: 'LlmOperatorQueueStuck',
    after: 25,
    labels: { job: 'llmservice-operator', namespace: 'llmservice-system', pod: 'operator-1' },
    fires: { [depth]: '5x25', [reconciles('success')]: '9x25' },
    quiet: { 'a queue that is worked off': { [depth]: '5x25', [reconciles('success')]: '0+1x25' } },
  },
  {
    alert: 'LlmOperatorForbidden',
    after: 20,
    labels: { resource: 'pods' },
    fires: { [unserved('forbidden')]: '1x20' },
    quiet: { 'a kind that is absent': { [unserved('absent')]: '1x20' } },
  },
  {
    alert: 'LlmActivatorDown',
    after: 10,
    labels: { job: 'llmservice-activator', namespace: 'llmservice-system' },
    fires: {},
    quiet: { 'an activator that holds nothing': { [`llmservice_activator_held{${activator}}`]: '0x10' } },
  },
  {
    alert: 'LlmActivatorRefuses',
    after: 15,
    labels: { reason: 'queue_full' },
    fires: { [refused('queue_full')]: '0+2x15' },
    quiet: { 'requests to a stopped service': { [refused('service_stopped')]: '0+2x15' } },
  },
];
