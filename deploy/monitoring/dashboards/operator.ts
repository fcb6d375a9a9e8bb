// The operator and its activators.

import { jobs } from '../series.js';
import { dashboard, graph, query, stat, table } from './panels.js';
import { quantile, rate } from './selection.js';

const here = 'namespace=~"$namespace"';
const operators = `${jobs.operator},${here}`;
const activators = `${jobs.activator},${here}`;
const pod = '{{pod}}';

export const operator = dashboard(
  'operator',
  'Operator',
  'The operator and its activators.',
  { namespace: 'label_values(llmservice_operator_leader, namespace)' },
  [
    {
      title: 'Now',
      panels: [
        stat('Leaders', 'none', `sum(llmservice_operator_leader{${operators}})`, '1 for each release.'),
        stat('Processes that see the cluster', 'none', `sum(llmservice_operator_ready{${operators}})`),
        stat('Services that wait', 'none', `sum(llmservice_operator_queue_depth{${operators}})`),
        stat(
          'Requests held',
          'none',
          `sum(llmservice_activator_held{${activators}})`,
          'By activators, for services that wake.',
        ),
        table(
          'Kinds that are absent or forbidden',
          `max by (resource, why) (llmservice_operator_unserved_resource{${jobs.operator}})`,
        ),
      ],
    },
    {
      title: 'Reconciles',
      panels: [
        graph(
          'Reconciles a second',
          'cps',
          [query('{{result}}', rate('llmservice_operator_reconcile_total', operators, 'result'))],
          { stacked: true },
        ),
        graph(
          'Duration of a reconcile',
          's',
          [0.5, 0.99].map((share) =>
            query(
              `p${share * 100}`,
              quantile(share, 'llmservice_operator_reconcile_duration_seconds', operators),
            ),
          ),
        ),
        graph('Services that wait', 'short', [
          query(pod, `sum by (pod) (llmservice_operator_queue_depth{${operators}})`),
        ]),
        graph(
          'Requests to the API server a second',
          'reqps',
          [
            query(
              '{{method}} {{resource}}',
              rate('llmservice_operator_api_requests_total', operators, 'method', 'resource'),
            ),
          ],
          { stacked: true },
        ),
        graph('Refused events a second', 'cps', [
          query('{{reason}}', rate('llmservice_operator_events_refused_total', operators, 'reason')),
        ]),
        graph('Who leads', 'short', [query(pod, `max by (pod) (llmservice_operator_leader{${operators}})`)], {
          max: 1,
        }),
      ],
    },
    {
      title: 'Activators',
      panels: [
        graph('Requests a second', 'reqps', [
          query('sent on', rate('llmservice_activator_forwarded_total', activators)),
          query('refused: {{reason}}', rate('llmservice_activator_refused_total', activators, 'reason')),
        ]),
        graph('Requests held', 'short', [
          query(pod, `sum by (pod) (llmservice_activator_held{${activators}})`),
        ]),
      ],
    },
    {
      title: 'Processes',
      panels: [
        graph('Memory', 'bytes', [
          query(
            pod,
            `sum by (pod) (process_resident_memory_bytes{job=~"llmservice-operator|llmservice-activator",${here}})`,
          ),
        ]),
        graph('Processors', 'short', [
          query(
            pod,
            rate(
              'process_cpu_seconds_total',
              `job=~"llmservice-operator|llmservice-activator",${here}`,
              'pod',
            ),
          ),
        ]),
      ],
    },
  ],
);
