// All services: which are ready, what they serve, what they hold.

import { failedRatio, filledIn, jobs, lateRatio } from '../series.js';
import { dashboard, graph, query, stat, table } from './panels.js';
import { quantile, rate } from './selection.js';

const here = 'namespace=~"$namespace"';
const pods = `${jobs.answering},${here}`;
const routers = `${jobs.routers},${here}`;
const gateway = '{{namespace}}/{{gateway}}';
const own = '{{namespace}}/{{service}}';
const top = (expr: string): string => `topk(10, ${expr})`;

export const fleet = dashboard(
  'fleet',
  'Fleet',
  'Which services are ready, what they serve and what they hold.',
  { namespace: 'label_values(llmservice_service_ready, namespace)' },
  [
    {
      title: 'Now',
      panels: [
        stat('Services', 'none', `count(llmservice_service_ready{${here}})`),
        stat('Ready', 'none', `sum(llmservice_service_ready{${here}})`, 'Services that sleep are ready.'),
        stat(
          'Replicas missing',
          'none',
          `sum(clamp_min(llmservice_service_replicas_wanted{${here}} - llmservice_service_replicas_ready, 0))`,
        ),
        stat('Devices held', 'none', `sum(llmservice_service_devices{${here}})`),
        stat('Tokens a second', 'cps', rate('vllm:generation_tokens_total', pods)),
        stat('Requests a second', 'reqps', rate('http_requests_total', pods)),
        table('Services that are not ready, with the reason', `llmservice_service_ready{${here}} == 0`),
      ],
    },
    {
      title: 'Objectives',
      panels: [
        graph(
          'Burn rate of failed requests, 1 h',
          'short',
          [query(own, top(`${failedRatio('1h')}{${here}} / ${filledIn.failedBudget}`))],
          {
            description:
              '1: the month’s budget is spent in a month. 14.4: 2 % of it in an hour, which calls somebody.',
          },
        ),
        graph(`Burn rate of first tokens after ${filledIn.firstTokenSeconds} s, 1 h`, 'short', [
          query(own, top(`${lateRatio('1h')}{${here}} / ${filledIn.lateBudget}`)),
        ]),
        graph('Time to the first token, 95th percentile', 's', [
          query(own, top(quantile(0.95, 'vllm:time_to_first_token_seconds', pods, 'namespace', 'service'))),
        ]),
        graph('Failed generations a second, by code', 'reqps', [
          query(
            `${own} {{code}}`,
            rate('llmservice_generation_errors_total', pods, 'namespace', 'service', 'code'),
          ),
        ]),
      ],
    },
    {
      title: 'Load',
      panels: [
        graph(
          'Generated tokens a second',
          'cps',
          [query(own, top(rate('vllm:generation_tokens_total', pods, 'namespace', 'service')))],
          { stacked: true },
        ),
        graph('Requests that wait', 'short', [
          query(own, top(`sum by (namespace, service) (vllm:num_requests_waiting{${pods}})`)),
        ]),
        graph(
          'KV cache in use, fullest replica',
          'percentunit',
          [query(own, top(`max by (namespace, service) (vllm:kv_cache_usage_perc{${pods}})`))],
          { max: 1 },
        ),
        graph(
          'Devices held, by device',
          'short',
          [query('{{device}}', `sum by (device) (llmservice_service_devices{${here}})`)],
          { stacked: true },
        ),
      ],
    },
    {
      title: 'Gateways of models',
      panels: [
        graph(
          'Requests a second, by outcome',
          'reqps',
          [
            query(
              `${gateway} {{outcome}}`,
              top(rate('llmservice_router_requests_total', routers, 'namespace', 'gateway', 'outcome')),
            ),
          ],
          { stacked: true, description: 'fallback_: another model answered. unreached, failed: nobody did.' },
        ),
        graph('Requests refused by routers a second', 'reqps', [
          query(
            `${gateway} {{reason}}`,
            rate('llmservice_router_refused_total', routers, 'namespace', 'gateway', 'reason'),
          ),
        ]),
        graph('Time added by routers, 99th percentile', 's', [
          query(
            gateway,
            top(quantile(0.99, 'llmservice_router_added_seconds', routers, 'namespace', 'gateway')),
          ),
        ]),
        graph('Requests under way, and models', 'short', [
          query(`${gateway} requests`, `sum by (namespace, gateway) (llmservice_router_open{${routers}})`),
          query(`${gateway} models`, `max by (namespace, gateway) (llmservice_router_models{${routers}})`),
        ]),
      ],
    },
  ],
);
