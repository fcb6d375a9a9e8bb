// Tokens and cost, by service and by API key. A key's cost is its share of the service's tokens, of prompts and answers, times
// what the service's devices cost: they cost the same while nobody asks.

import { jobs } from '../series.js';
import { dashboard, graph, query, stat, table } from './panels.js';
import { chosen, rate, reported, serviceVariables } from './selection.js';

const by = 'by (namespace, service)';
const own = '{{namespace}}/{{service}}';
const range = '[$__range]';
const keys = `${chosen},key=~"$key"`;

const perHour = `sum ${by} (llmservice_service_devices{${reported}}) * on (namespace, service) group_left(currency) llmservice_device_hour_price`;
const ofRange = `sum ${by} (increase(llmservice_device_seconds_total{${reported}}${range})) / 3600 * on (namespace, service) group_left(currency) llmservice_device_hour_price`;
const increase = (series: string, labels: string, ...labelsBy: string[]): string =>
  `sum by (${['namespace', 'service', ...labelsBy].join(', ')}) (increase(${series}{${labels}}${range}))`;
const tokens = `(${increase('vllm:generation_tokens_total', chosen)} + ${increase('vllm:prompt_tokens_total', chosen)})`;
const keyTokens = `(${increase('llmservice_key_completion_tokens_total', keys, 'key')} + ${increase('llmservice_key_prompt_tokens_total', keys, 'key')})`;

export const cost = dashboard(
  'cost',
  'Tokens and cost',
  'Tokens and cost of services and API keys over the chosen time. Prices: the chart’s prices, or spec.budget.costPerDeviceHour.',
  { ...serviceVariables, key: `label_values(llmservice_key_requests_total{${jobs.services}}, key)` },
  [
    {
      title: 'Cost',
      panels: [
        stat('Cost an hour, at present', 'short', `sum(${perHour})`),
        stat('Cost, chosen time', 'short', `sum(${ofRange})`),
        stat(
          'Device-hours, chosen time',
          'h',
          `sum(increase(llmservice_device_seconds_total{${reported}}${range})) / 3600`,
        ),
        stat(
          'Budget taken, highest',
          'percentunit',
          `max(llmservice_service_budget_used_ratio{${reported}})`,
        ),
        stat('Generated tokens', 'short', `sum(increase(vllm:generation_tokens_total{${chosen}}${range}))`),
        stat('Prompt tokens', 'short', `sum(increase(vllm:prompt_tokens_total{${chosen}}${range}))`),
        graph('Cost an hour', 'short', [query(`${own} {{currency}}`, perHour)], { stacked: true }),
        graph(
          'Devices held',
          'short',
          [
            query(
              `${own} {{device}}`,
              `sum by (namespace, service, device) (llmservice_service_devices{${reported}})`,
            ),
          ],
          { stacked: true },
        ),
        table(
          'Cost of a million tokens, chosen time',
          `${ofRange} / on (namespace, service) (${tokens} > 0) * 1e6`,
          'Prompt and generated tokens alike.',
        ),
        table('Cost by service, chosen time', ofRange),
      ],
    },
    {
      title: 'Keys',
      panels: [
        table(
          'Cost of keys, chosen time',
          `${keyTokens} / on (namespace, service) group_left() (sum ${by} (${keyTokens}) > 0) * on (namespace, service) group_left(currency) (${ofRange})`,
          'By their share of all tokens of keys.',
        ),
        table('Tokens of keys, chosen time', keyTokens),
        graph(
          'Generated tokens a second',
          'cps',
          [query('{{key}}', rate('llmservice_key_completion_tokens_total', keys, 'key'))],
          { stacked: true },
        ),
        graph('Prompt tokens a second', 'cps', [
          query('{{key}}', rate('llmservice_key_prompt_tokens_total', keys, 'key')),
          query('{{key}} cached', rate('llmservice_key_cached_tokens_total', keys, 'key')),
        ]),
        graph(
          'Requests a second',
          'reqps',
          [query('{{key}}', rate('llmservice_key_requests_total', keys, 'key'))],
          { stacked: true },
        ),
        graph('Refused a second', 'reqps', [
          query('{{key}} {{limit}}', rate('llmservice_key_refused_total', keys, 'key', 'limit')),
          query('without a key', rate('llmservice_unauthorized_total', chosen)),
        ]),
      ],
    },
  ],
);
