// The engines of a service, replica by replica: steps, caches, speculation, faults, the server's process.

import { dashboard, graph, query, table } from './panels.js';
import { chosen, mean, quantile, rate, serviceVariables } from './selection.js';

const pod = '{{pod}}';
const gauge = (series: string): string => `sum by (pod) (${series}{${chosen}})`;

export const engine = dashboard(
  'engine',
  'Engine',
  'The engines of a service, replica by replica.',
  serviceVariables,
  [
    {
      title: 'Steps',
      panels: [
        table('What runs the model', `llmservice_engine_device_info{${chosen}}`),
        graph('Steps a second', 'cps', [query(pod, rate('llmservice_engine_steps_total', chosen, 'pod'))]),
        graph('Time of a step, mean', 's', [
          query(
            pod,
            `${rate('llmservice_engine_step_seconds_total', chosen, 'pod')} / ${rate('llmservice_engine_steps_total', chosen, 'pod')}`,
          ),
        ]),
        graph(
          'Share of the time in steps',
          'percentunit',
          [query(pod, rate('llmservice_engine_step_seconds_total', chosen, 'pod'))],
          { max: 1 },
        ),
        graph('Tokens of a step, mean', 'short', [
          query(pod, mean('vllm:iteration_tokens_total', chosen, 'pod')),
        ]),
        graph('Sequences in the batch', 'short', [query(pod, gauge('vllm:num_requests_running'))]),
        graph('Sequences that wait', 'short', [query(pod, gauge('vllm:num_requests_waiting'))]),
      ],
    },
    {
      title: 'Caches',
      panels: [
        graph('KV blocks', 'short', [
          query('{{pod}} used', gauge('llmservice_kv_blocks_used')),
          query('{{pod}} cached', gauge('llmservice_kv_blocks_cached')),
          query('{{pod}} all', gauge('llmservice_kv_blocks')),
        ]),
        graph(
          'Prefix cache hits',
          'percentunit',
          [
            query(
              pod,
              `${rate('vllm:prefix_cache_hits_total', chosen, 'pod')} / ${rate('vllm:prefix_cache_queries_total', chosen, 'pod')}`,
            ),
          ],
          { max: 1 },
        ),
        graph('Preemptions a second', 'cps', [query(pod, rate('vllm:num_preemptions_total', chosen, 'pod'))]),
        graph('Snapshots of recurrent state', 'short', [
          query(pod, gauge('llmservice_state_snapshots_kept')),
        ]),
      ],
    },
    {
      title: 'Speculation',
      panels: [
        graph(
          'Accepted draft tokens',
          'percentunit',
          [
            query(
              pod,
              `${rate('vllm:spec_decode_num_accepted_tokens_total', chosen, 'pod')} / ${rate('vllm:spec_decode_num_draft_tokens_total', chosen, 'pod')}`,
            ),
          ],
          { max: 1 },
        ),
        graph('Accepted per draft, mean', 'short', [
          query(
            pod,
            `${rate('vllm:spec_decode_num_accepted_tokens_total', chosen, 'pod')} / ${rate('vllm:spec_decode_num_drafts_total', chosen, 'pod')}`,
          ),
        ]),
      ],
    },
    {
      title: 'Faults',
      panels: [
        graph('Engine restarts', 'short', [
          query(pod, `sum by (pod) (increase(llmservice_engine_restarts_total{${chosen}}[$__range]))`),
        ]),
        graph('Numerical faults, and runs of one token, a second', 'cps', [
          query('{{pod}} {{kind}}', rate('llmservice_numerical_faults_total', chosen, 'pod', 'kind')),
          query('{{pod}} repeated token', rate('llmservice_repeated_token_runs_total', chosen, 'pod')),
        ]),
      ],
    },
    {
      title: 'Server process',
      panels: [
        graph('Memory', 'bytes', [query(pod, gauge('process_resident_memory_bytes'))], {
          description: 'Of the server alone: the engine is a process of its own.',
        }),
        graph('Processors', 'short', [query(pod, rate('process_cpu_seconds_total', chosen, 'pod'))]),
        graph('Delay of the event loop, 99th percentile', 's', [
          query(pod, quantile(0.99, 'llmservice_event_loop_delay_seconds', chosen, 'pod')),
        ]),
        graph('Open files', 'short', [query(pod, gauge('process_open_fds'))]),
      ],
    },
  ],
);
