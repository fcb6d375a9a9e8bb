// What is wrong with a service at present, by the metrics of its pods and by what the operator's leader reports of it.

import { jobs } from '../series.js';
import { alert, theService, type RuleGroup } from './rule.js';

const by = 'by (namespace, service)';
/** Of prefill pods too, which have no `service`. */
const byPods = 'by (namespace, service, prefill_of)';
const sum = (name: string): string => `sum ${byPods} (${name}{${jobs.services}})`;
const increased = (name: string, window: string): string =>
  `sum ${byPods} (increase(${name}{${jobs.services}}[${window}])) > 0`;
/** No pods, because the spec says so. */
const wanted = 'reason!~"Stopped|ScaledToZero|OverBudget"';
/** Loads take their time, and one that stalls ends by itself. */
const failed = 'reason!~"Pending|Reading|NoPods|Scheduling|Pulling|Loading|Starting|ReplicasStarting"';
const pod = '{{ $labels.pod }}';

const state: RuleGroup = {
  name: 'llmservice-state',
  rules: [
    alert('LlmServiceDown', {
      severity: 'critical',
      for: '5m',
      // A pod that crashes has two reasons in turn: what ended it, and what it does anew.
      expr: `min ${by} (min_over_time(llmservice_service_ready{${wanted},${failed}}[10m])) == 0\nand on (namespace, service) llmservice_service_replicas_ready == 0\nand on (namespace, service) llmservice_service_replicas_wanted > 0`,
      summary: `${theService} has no pod that serves`,
      description: 'Replicas are wanted and none serves. The status says why, with the remedy.',
    }),
    alert('LlmServiceNotReady', {
      severity: 'warning',
      for: '30m',
      expr: `max ${by} (llmservice_service_ready{${wanted}}) == 0`,
      summary: `${theService} is not Ready`,
      description:
        'It may serve all the same: with fewer replicas, without a route, or in its previous revision.',
    }),
    alert('LlmServiceBudgetSpent', {
      severity: 'warning',
      for: '5m',
      expr: 'llmservice_service_budget_used_ratio >= 0.8',
      summary: `${theService} has taken {{ $value | humanizePercentage }} of its budget`,
      description: 'At 100 % its pods go, unless budget.action is warn.',
    }),
  ],
};

const load: RuleGroup = {
  name: 'llmservice-load',
  rules: [
    alert('LlmServiceQueueing', {
      severity: 'warning',
      for: '10m',
      expr: `${sum('vllm:num_requests_waiting')} > 0`,
      summary: `${theService}: requests have waited for 10 minutes, {{ $value }} at present`,
      description: 'The replicas have no room for more: maxNumSeqs sequences run, or the KV cache is full.',
    }),
    alert('LlmServiceRequestsRefused', {
      severity: 'warning',
      for: '5m',
      expr: `sum ${byPods} (rate(vllm:admission_rejections_total{${jobs.services}}[5m])) > 0`,
      summary: `${theService} refuses requests: its queue is full`,
      description: '{{ $value | humanize }} requests a second are answered with queue_full.',
    }),
    alert('LlmServicePreempting', {
      severity: 'warning',
      for: '15m',
      expr: `sum ${byPods} (rate(vllm:num_preemptions_total{${jobs.services}}[5m])) > 0\nand max ${byPods} (vllm:kv_cache_usage_perc{${jobs.services}}) > 0.9`,
      summary: `${theService}: the KV cache is full, and sequences are computed again`,
      description: '{{ $value | humanize }} preemptions a second.',
    }),
    alert('LlmServiceEventLoopBlocked', {
      severity: 'warning',
      for: '15m',
      expr: `histogram_quantile(0.99, sum by (namespace, service, prefill_of, pod, le) (rate(llmservice_event_loop_delay_seconds_bucket{${jobs.services}}[5m]))) > 0.25`,
      summary: `${theService}: the server of ${pod} answers late`,
      description:
        'One in a hundred timers of the server process fires {{ $value | humanizeDuration }} late.',
    }),
  ],
};

const faults: RuleGroup = {
  name: 'llmservice-faults',
  rules: [
    alert('LlmServiceEngineRestarts', {
      severity: 'warning',
      for: '0m',
      expr: `sum by (namespace, service, prefill_of, pod) (increase(llmservice_engine_restarts_total{${jobs.services}}[15m])) > 0`,
      summary: `${theService}: the engine of ${pod} was lost and started again`,
      description: 'Requests that it ran ended with an error.',
    }),
    alert('LlmServiceNumericalFaults', {
      severity: 'warning',
      for: '0m',
      expr: `sum by (namespace, service, prefill_of, kind) (increase(llmservice_numerical_faults_total{${jobs.services}}[30m])) > 0`,
      summary: `${theService}: requests ended because of their logits ({{ $labels.kind }})`,
      description:
        'Non-finite or collapsed logits: a broken device, a broken checkpoint or a fault of a kernel.',
    }),
    alert('LlmServiceKeyFileBroken', {
      severity: 'warning',
      for: '5m',
      expr: `min ${byPods} (llmservice_key_file_valid{${jobs.services}}) == 0`,
      summary: `${theService}: the Secret of its API keys is broken`,
      description: 'The keys before stay valid; a key that was withdrawn since is still let in.',
    }),
    alert('LlmServiceLogLost', {
      severity: 'warning',
      for: '0m',
      expr: `${increased('llmservice_request_log_write_failures_total', '15m')}\nor ${increased('llmservice_request_log_lines_lost_total', '15m')}`,
      summary: `${theService}: lines of its request log cannot be written`,
      description: 'Its bucket is away, or may not be written. Lines beyond 32 MiB are lost.',
    }),
  ],
};

export const serviceGroups: readonly RuleGroup[] = [state, load, faults];
