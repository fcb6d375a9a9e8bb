// Of what is wrong with a service at present.

import { ofTeam, pod, prefillPod, team, type AlertCase } from './alert-case.js';

const ready = (reason: string): string => `llmservice_service_ready{${ofTeam},reason="${reason}"}`;
const replicas = (what: 'wanted' | 'ready'): string => `llmservice_service_replicas_${what}{${ofTeam}}`;
const delay = (le: string): string => `llmservice_event_loop_delay_seconds_bucket{${pod},le="${le}"}`;

export const serviceCases: readonly AlertCase[] = [
  {
    alert: 'LlmServiceDown',
    after: 10,
    labels: team,
    fires: { [ready('EngineFault')]: '0x10', [replicas('ready')]: '0x10', [replicas('wanted')]: '2x10' },
    quiet: {
      'a service that loads': {
        [ready('Loading')]: '0x10',
        [replicas('ready')]: '0x10',
        [replicas('wanted')]: '2x10',
      },
      'one that is stopped': {
        [ready('Stopped')]: '0x10',
        [replicas('ready')]: '0x10',
        [replicas('wanted')]: '0x10',
      },
      'one that sleeps': {
        [ready('Asleep')]: '1x10',
        [replicas('ready')]: '0x10',
        [replicas('wanted')]: '0x10',
      },
      'one of two replicas': {
        [ready('EngineFault')]: '0x10',
        [replicas('ready')]: '1x10',
        [replicas('wanted')]: '2x10',
      },
    },
  },
  {
    // A pod that crashes and loads again.
    alert: 'LlmServiceDown',
    after: 15,
    labels: team,
    fires: {
      [ready('EngineFault')]: '0 _x4 0 _x4 0 _x4',
      [ready('Loading')]: '_ 0x3 _ 0x3 _ 0x4',
      [replicas('ready')]: '0x15',
      [replicas('wanted')]: '1x15',
    },
    quiet: {
      'a service that is made, and loads': {
        [ready('NoPods')]: '0 _x14',
        [ready('Loading')]: '_ 0x14',
        [replicas('ready')]: '0x15',
        [replicas('wanted')]: '1x15',
      },
      'one that mended itself': {
        [ready('EngineFault')]: '0x8 _x7',
        [ready('Serving')]: '_x9 1x6',
        [replicas('ready')]: '0x8 1x6',
        [replicas('wanted')]: '1x15',
      },
    },
  },
  {
    alert: 'LlmServiceNotReady',
    after: 40,
    labels: team,
    fires: { [ready('ReplicasStarting')]: '0x40' },
    quiet: {
      'a service whose month is spent': { [ready('OverBudget')]: '0x40' },
      'one that came back': { [ready('ReplicasStarting')]: '0x20 _x20', [ready('Serving')]: '_x21 1x20' },
    },
  },
  {
    alert: 'LlmServiceBudgetSpent',
    after: 10,
    labels: team,
    fires: { [`llmservice_service_budget_used_ratio{${ofTeam}}`]: '0.85x10' },
    quiet: { 'a month that lasts': { [`llmservice_service_budget_used_ratio{${ofTeam}}`]: '0.7x10' } },
  },
  {
    alert: 'LlmServiceQueueing',
    after: 15,
    labels: team,
    fires: { [`vllm:num_requests_waiting{${pod}}`]: '3x15' },
    quiet: {
      'a queue that empties': { [`vllm:num_requests_waiting{${pod}}`]: '3x8 0 3x6' },
      'the queue of another vLLM': { [`vllm:num_requests_waiting{job="vllm",${ofTeam}}`]: '3x15' },
    },
  },
  {
    alert: 'LlmServiceRequestsRefused',
    after: 10,
    labels: team,
    fires: { [`vllm:admission_rejections_total{${pod},reason="max_num_queued_reqs"}`]: '0+1x10' },
    quiet: {
      'no refusal': { [`vllm:admission_rejections_total{${pod},reason="max_num_queued_reqs"}`]: '7x10' },
    },
  },
  {
    alert: 'LlmServicePreempting',
    after: 25,
    labels: team,
    fires: {
      [`vllm:num_preemptions_total{${pod}}`]: '0+1x25',
      [`vllm:kv_cache_usage_perc{${pod}}`]: '0.97x25',
    },
    quiet: {
      'a full cache': {
        [`vllm:num_preemptions_total{${pod}}`]: '4x25',
        [`vllm:kv_cache_usage_perc{${pod}}`]: '1x25',
      },
    },
  },
  {
    alert: 'LlmServiceEventLoopBlocked',
    after: 25,
    labels: { ...team, pod: 'chat-1' },
    fires: {
      [delay('0.1')]: '0+50x25',
      [delay('0.5')]: '0+90x25',
      [delay('1')]: '0+100x25',
      [delay('+Inf')]: '0+100x25',
    },
    quiet: {
      'timers in time': {
        [delay('0.1')]: '0+100x25',
        [delay('0.5')]: '0+100x25',
        [delay('+Inf')]: '0+100x25',
      },
    },
  },
  {
    alert: 'LlmServiceEngineRestarts',
    after: 10,
    labels: { ...team, pod: 'chat-1' },
    fires: { [`llmservice_engine_restarts_total{${pod}}`]: '0x5 1x5' },
    quiet: { 'a restart of yesterday': { [`llmservice_engine_restarts_total{${pod}}`]: '1x10' } },
  },
  {
    alert: 'LlmServiceEngineRestarts',
    after: 10,
    labels: { namespace: 'team', prefill_of: 'chat', pod: 'chat-prefill-1' },
    fires: { [`llmservice_engine_restarts_total{${prefillPod}}`]: '0x5 1x5' },
    quiet: { 'none since': { [`llmservice_engine_restarts_total{${prefillPod}}`]: '1x10' } },
  },
  {
    alert: 'LlmServiceNumericalFaults',
    after: 10,
    labels: { ...team, kind: 'notFinite' },
    fires: { [`llmservice_numerical_faults_total{${pod},kind="notFinite"}`]: '0x5 1x5' },
    quiet: { 'none since': { [`llmservice_numerical_faults_total{${pod},kind="notFinite"}`]: '1x10' } },
  },
  {
    alert: 'LlmServiceKeyFileBroken',
    after: 10,
    labels: team,
    fires: { [`llmservice_key_file_valid{${pod}}`]: '0x10' },
    quiet: { 'a file that is mended': { [`llmservice_key_file_valid{${pod}}`]: '0x3 1x7' } },
  },
  {
    alert: 'LlmServiceLogLost',
    after: 10,
    labels: team,
    fires: { [`llmservice_request_log_write_failures_total{${pod}}`]: '0x5 1x5' },
    quiet: { 'a bucket that answers': { [`llmservice_request_log_write_failures_total{${pod}}`]: '0x10' } },
  },
];
