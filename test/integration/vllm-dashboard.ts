// The queries of vLLM's own Grafana dashboards: the expressions of all panels of
// examples/observability/prometheus_grafana/grafana.json in vllm-project/vllm, at commit 4b5c627c23e6690b8987100d1cbf78e34ac14bf9,
// with quantiles written once for the four of each panel; and those of other metrics in dashboards/grafana/ beside it
// (vllm_overview at 0b9faa41, vllm_kv_cache at 5836216b, vllm_service_status at 712d7547) and in KServe's
// docs/samples/llmisvc/e2e-gpt-oss/grafana at aaac4e29.

const model = '{model_name="$model_name"}';
const window = '[$__rate_interval]';

/** p99, p95, p90, p50 and the mean. */
const latency = (name: string): string[] => [
  ...['0.99', '0.95', '0.9', '0.5'].map(
    (share) => `histogram_quantile(${share}, sum by(le) (rate(${name}_bucket${model}${window})))`,
  ),
  `rate(${name}_sum${model}${window})\n/\nrate(${name}_count${model}${window})`,
];

const rate = (name: string): string => `sum(rate(${name}${model}${window}))`;
const waiting = (reason: string): string =>
  `sum(vllm:num_requests_waiting_by_reason{model_name="$model_name", reason="${reason}"})`;

const states = [
  '(2 - (max(vllm:engine_sleep_state{model_name="$model_name", sleep_state="awake"}) == bool 0)) or vector(0)',
  `(sum(rate(http_requests_total{status="5xx"}${window})) or vector(0)) / (sum(rate(http_requests_total${window})) > 0)`,
  `${rate('vllm:prefix_cache_hits_total')} / (${rate('vllm:prefix_cache_queries_total')} > 0)`,
  `${rate('vllm:prompt_tokens_cached_total')} / (${rate('vllm:prompt_tokens_total')} > 0)`,
  ...['num_preemptions', 'external_prefix_cache_hits', 'external_prefix_cache_queries'].map((name) =>
    rate(`vllm:${name}_total`),
  ),
  ...['capacity', 'deferred'].map(waiting),
  rate('vllm:iteration_tokens_total_count'),
];

/** As Grafana sends them, with the dashboard's variables filled in. */
export function dashboardQueries(modelName: string): string[] {
  return [
    ...latency('vllm:e2e_request_latency_seconds'),
    `rate(vllm:prompt_tokens_total${model}${window})`,
    `rate(vllm:generation_tokens_total${model}${window})`,
    ...latency('vllm:inter_token_latency_seconds'),
    `vllm:num_requests_running${model}`,
    `vllm:num_requests_waiting${model}`,
    ...latency('vllm:time_to_first_token_seconds'),
    `vllm:kv_cache_usage_perc${model}`,
    `sum by(le) (increase(vllm:request_prompt_tokens_bucket${model}${window}))`,
    `sum by(le) (increase(vllm:request_generation_tokens_bucket${model}${window}))`,
    `sum by(finished_reason) (increase(vllm:request_success_total${model}${window}))`,
    `rate(vllm:request_queue_time_seconds_sum${model}${window})`,
    `rate(vllm:request_prefill_time_seconds_sum${model}${window})`,
    `rate(vllm:request_decode_time_seconds_sum${model}${window})`,
    `rate(vllm:request_max_num_generation_tokens_sum${model}${window})`,
    ...states,
  ].map((query) => query.replaceAll('$model_name', modelName).replaceAll('$__rate_interval', '1m'));
}
