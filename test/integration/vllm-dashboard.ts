// The queries of vLLM's own Grafana dashboard: the expressions of all panels of
// examples/observability/prometheus_grafana/grafana.json in vllm-project/vllm, at commit 4b5c627c23e6690b8987100d1cbf78e34ac14bf9.
// Quantiles are written once for the four of each panel.

const model = '{model_name="$model_name"}';
const window = '[$__rate_interval]';

/** p99, p95, p90, p50 and the mean. */
const latency = (name: string): string[] => [
  ...['0.99', '0.95', '0.9', '0.5'].map(
    (share) => `histogram_quantile(${share}, sum by(le) (rate(${name}_bucket${model}${window})))`,
  ),
  `rate(${name}_sum${model}${window})\n/\nrate(${name}_count${model}${window})`,
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
  ].map((query) => query.replaceAll('$model_name', modelName).replaceAll('$__rate_interval', '1m'));
}
