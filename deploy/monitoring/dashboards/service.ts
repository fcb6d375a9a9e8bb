// One service: what its clients get, and what its replicas are busy with.

import { dashboard, graph, query, stat, table } from './panels.js';
import { chosen, mean, prefillChosen, quantile, rate, reported, serviceVariables } from './selection.js';

/** A histogram of times by its usual percentiles. */
const times = (title: string, histogram: string, description?: string) =>
  graph(
    title,
    's',
    [
      ...[0.5, 0.95, 0.99].map((share) => query(`p${share * 100}`, quantile(share, histogram, chosen))),
      query('mean', mean(histogram, chosen)),
    ],
    description === undefined ? {} : { description },
  );

/** Of prompts that prefill pods computed. */
const each = (total: string): string =>
  `${rate(total, chosen)} / ${rate('llmservice_prefill_prompts_total', chosen)}`;

const phases = { queue: 'queue', prefill: 'prefill', decode: 'decode' };

export const service = dashboard(
  'service',
  'Service',
  'What clients of a service get, and what its replicas are busy with.',
  serviceVariables,
  [
    {
      title: 'Now',
      panels: [
        stat('Replicas wanted', 'none', `sum(llmservice_service_replicas_wanted{${reported}})`),
        stat('Replicas that serve', 'none', `sum(llmservice_service_replicas_ready{${reported}})`),
        stat('Running', 'none', `sum(vllm:num_requests_running{${chosen}})`),
        stat('Waiting', 'none', `sum(vllm:num_requests_waiting{${chosen}})`),
        stat(
          'KV cache in use',
          'percentunit',
          `max(vllm:kv_cache_usage_perc{${chosen}})`,
          'Of the fullest replica.',
        ),
        stat(
          'Prefix cache hits',
          'percentunit',
          `${rate('vllm:prefix_cache_hits_total', chosen)} / ${rate('vllm:prefix_cache_queries_total', chosen)}`,
        ),
        table('State', `llmservice_service_ready{${reported}}`),
      ],
    },
    {
      title: 'What clients get',
      panels: [
        graph(
          'Answers a second, by route and status',
          'reqps',
          [query('{{handler}} {{status}}', rate('http_requests_total', chosen, 'handler', 'status'))],
          { stacked: true },
        ),
        graph(
          'Generations a second, by how they ended',
          'reqps',
          [query('{{finished_reason}}', rate('vllm:request_success_total', chosen, 'finished_reason'))],
          { stacked: true },
        ),
        graph('Failed generations a second, by code', 'reqps', [
          query('{{code}}', rate('llmservice_generation_errors_total', chosen, 'code')),
        ]),
        graph('Refused a second', 'reqps', [
          query('queue: {{reason}}', rate('vllm:admission_rejections_total', chosen, 'reason')),
          query('connections: {{how}}', rate('llmservice_connections_refused_total', chosen, 'how')),
        ]),
        times('Time to the first token', 'vllm:time_to_first_token_seconds'),
        times('Between two tokens', 'vllm:inter_token_latency_seconds'),
        times('Whole request', 'vllm:e2e_request_latency_seconds'),
        graph(
          'Where the time of a request goes, mean',
          's',
          Object.entries(phases).map(([phase, legend]) =>
            query(legend, mean(`vllm:request_${phase}_time_seconds`, chosen)),
          ),
          { stacked: true },
        ),
      ],
    },
    {
      title: 'Load',
      panels: [
        graph('Tokens a second', 'cps', [
          query('prompt: {{source}}', rate('vllm:prompt_tokens_by_source_total', chosen, 'source')),
          query('generated', rate('vllm:generation_tokens_total', chosen)),
        ]),
        graph('Requests running and waiting', 'short', [
          query('running', `sum(vllm:num_requests_running{${chosen}})`),
          query('waiting', `sum(vllm:num_requests_waiting{${chosen}})`),
        ]),
        graph('Tokens of a request, mean', 'short', [
          query('prompt', mean('vllm:request_prompt_tokens', chosen)),
          query('answer', mean('vllm:request_generation_tokens', chosen)),
        ]),
        graph('Replicas', 'short', [
          query('wanted', `sum(llmservice_service_replicas_wanted{${reported}})`),
          query('serve', `sum(llmservice_service_replicas_ready{${reported}})`),
        ]),
      ],
    },
    {
      title: 'Prefill and decode apart, and InferencePools',
      panels: [
        graph('Prefill pods', 'short', [
          query('wanted', `sum(llmservice_service_prefill_wanted{${reported}})`),
          query('ready', `sum(llmservice_service_prefill_ready{${reported}})`),
        ]),
        graph(
          'Long prompts a second, by who computed them',
          'cps',
          [
            query('prefill pods', rate('llmservice_prefill_prompts_total', chosen)),
            query('decode pods: {{reason}}', rate('llmservice_prefill_fallbacks_total', chosen, 'reason')),
          ],
          { stacked: true, description: 'Why a decode pod computed a prompt itself that was for others.' },
        ),
        graph('Time of a prompt at prefill pods, and of its transfer, mean', 's', [
          query('asked', each('llmservice_prefill_seconds_total')),
          query('transferred', each('llmservice_kv_transfer_seconds_total')),
        ]),
        graph('Bytes transferred for a prompt, mean', 'bytes', [
          query('bytes', each('llmservice_kv_transfer_bytes_total')),
        ]),
        graph('Prompts that wait to be fetched, by prefill pod', 'short', [
          query('{{pod}}', `sum by (pod) (llmservice_prefill_tickets{${prefillChosen}})`),
          query(
            '{{pod}} not fetched',
            rate('llmservice_prefill_tickets_expired_total', prefillChosen, 'pod'),
          ),
        ]),
        graph('Prompt tokens computed a second, by prefill pod', 'cps', [
          query('{{pod}}', rate('vllm:prompt_tokens_total', prefillChosen, 'pod')),
        ]),
        table(
          'Route, and whether completions go through the InferencePool',
          `llmservice_service_routed{${reported}}`,
        ),
      ],
    },
    {
      title: 'Loading',
      panels: [
        graph('Bytes of weights, by pod', 'bytes', [
          query('{{pod}} pulled', `sum by (pod) (llmservice_pull_bytes_done{${chosen}})`),
          query('{{pod}} loaded', `sum by (pod) (llmservice_load_bytes_done{${chosen}})`),
          query('{{pod}} in all', `sum by (pod) (llmservice_load_bytes_expected{${chosen}})`),
        ]),
      ],
    },
  ],
);
