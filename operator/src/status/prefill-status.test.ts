import { expect, test } from '@jest/globals';
import type { Deployment } from '../kube/types.js';
import { buildStatus } from './build-status.js';
import { base, ended, pod } from './observed.fixture.js';
import type { PrefillPods } from './prefill-status.js';

const deployment = (status: object): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'demo-prefill' },
  status,
});
const statusOf = (prefill: PrefillPods | null) =>
  buildStatus({ ...base, pods: [pod('a', { ready: true })], prefill });
const ready = (prefill: PrefillPods | null) => {
  const { status, message } = statusOf(prefill).conditions!.find(({ type }) => type === 'Ready')!;
  return `${status} ${message}`;
};
const none = { wanted: 2, deployment: deployment({ replicas: 2 }), pods: [] };

test('the status counts prefill pods, where there are to be some', () => {
  expect(statusOf(null)).not.toHaveProperty('prefill');
  expect(statusOf({ ...none, deployment: null }).prefill).toEqual({ replicas: 0, ready: 0 });
  const some = { ...none, deployment: deployment({ replicas: 2, readyReplicas: 1 }) };
  expect(statusOf(some)).toMatchObject({ prefill: { replicas: 2, ready: 1 }, readyReplicas: 1 });
  expect(ready(some)).toBe('True 1 of 1 pods answer.');
});

test.each<[string, PrefillPods, string]>([
  ['nothing is known of them', none, ': decode pods compute all prompts.'],
  [
    'one failed',
    { ...none, pods: [pod('p', ended(1, '{"reason":"S3AccessDenied","message":"keys are refused"}'))] },
    ' (S3AccessDenied: keys are refused): decode pods compute all prompts.',
  ],
  [
    'one has no node',
    { ...none, pods: [pod('p', { scheduled: '0/3 nodes are available' })] },
    ' (Unschedulable: 0/3 nodes are available): decode pods compute all prompts.',
  ],
])('without a prefill pod the service is ready, and says what is the matter: %s', (_, prefill, text) => {
  expect(ready(prefill)).toBe(`True 1 of 1 pods answer. No prefill pod is ready${text}`);
});

test('nobody misses prefill pods that are not wanted', () => {
  expect(ready({ ...none, wanted: 0, deployment: deployment({}) })).toBe('True 1 of 1 pods answer.');
});
