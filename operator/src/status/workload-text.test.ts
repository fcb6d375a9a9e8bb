import { expect, test } from '@jest/globals';
import { describeWorkload, type Workload } from './workload-text.js';

const workload = (type: string, status: string, message: string, more: object = {}): Workload => ({
  metadata: { name: 'pod-a-1' },
  status: { conditions: [{ type, status, message }], ...more },
});

test.each<[string, Workload | null | undefined, string]>([
  [
    'quota that others hold',
    workload(
      'QuotaReserved',
      'False',
      "couldn't assign flavors: insufficient unused quota for amd.com/gpu in flavor a, 1 more needed",
    ),
    "Kueue holds the pod a in the LocalQueue q: couldn't assign flavors: insufficient unused quota for amd.com/gpu in flavor a, 1 more needed. It is admitted once others",
  ],
  [
    'more than there is',
    workload('QuotaReserved', 'False', 'insufficient quota for cpu in flavor a, 9 > maximum capacity (8)'),
    'Ask for less, or have the quota',
  ],
  [
    'a queue that is missing',
    workload('QuotaReserved', 'False', "LocalQueue q doesn't exist"),
    "LocalQueue q doesn't exist. Correct spec.queueName",
  ],
  [
    'admission checks',
    workload('QuotaReserved', 'True', '', {
      admissionChecks: [{ name: 'provision', state: 'Pending', message: 'no nodes' }],
    }),
    'waits for admission checks: provision (no nodes).',
  ],
  [
    'an eviction',
    workload('Evicted', 'True', 'Preempted to accommodate b'),
    'evicted before: Preempted to accommodate b.',
  ],
  [
    'one that is deactivated',
    { metadata: { name: 'pod-a-1' }, spec: { active: false } },
    'Set its spec.active to true.',
  ],
  ['none', null, 'has no Workload for it yet'],
  ['one that may not be read', undefined, 'may not read its Workload'],
])('%s', (_, found, expected) => {
  expect(describeWorkload('a', 'q', found)).toContain(expected);
});
