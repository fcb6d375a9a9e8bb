// The API server's own words, as its admission plugins write them (kube-apiserver 1.34).

import { expect, test } from '@jest/globals';
import type { Deployment } from '../kube/types.js';
import { readRefusal } from './refusal.js';

const refused = (message: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'demo' },
  status: { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }] },
});

test.each<[string, string, string, string[]]>([
  [
    'pods "demo-6f5-x" is forbidden: exceeded quota: gpus, requested: requests.amd.com/gpu=2, used: requests.amd.com/gpu=2, limited: requests.amd.com/gpu=3',
    'QuotaExceeded',
    'ResourceQuota gpus has no room for a pod: it asks for requests.amd.com/gpu=2; used are requests.amd.com/gpu=2 of requests.amd.com/gpu=3.',
    ['amd.com/gpu'],
  ],
  [
    'pods "a" is forbidden: exceeded quota: all, requested: limits.memory=8Gi,pods=1, used: limits.memory=8Gi,pods=4, limited: limits.memory=10Gi,pods=4',
    'QuotaExceeded',
    'asks for limits.memory=8Gi,pods=1;',
    ['memory', 'pods'],
  ],
  [
    'pods "a" is forbidden: failed quota: compute: must specify limits.cpu for: runtime; limits.memory for: runtime',
    'QuotaWantsLimits',
    'wants every pod to say limits.cpu for: runtime',
    [],
  ],
  [
    'pods "a" is forbidden: violates PodSecurity "restricted:latest": seccompProfile (pod or container "runtime" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    'PodSecurityRefused',
    'Pod Security level restricted:latest alone: seccompProfile',
    [],
  ],
  [
    'pods "a" is forbidden: violates PodSecurity "restricted:latest": restricted volume types (volume "weights" uses restricted volume type "hostPath")',
    'PodSecurityRefused',
    'set spec.model.cache.kind to pvc',
    [],
  ],
  [
    'pods "a" is forbidden: error looking up service account ns/robot: serviceaccount "robot" not found',
    'ServiceAccountMissing',
    'ServiceAccount robot',
    [],
  ],
  [
    'pods "a" is forbidden: no PriorityClass with name high was found',
    'PriorityClassMissing',
    'PriorityClass high',
    [],
  ],
  [
    'pods "a" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi',
    'LimitRangeRefused',
    'is 1Gi, but limit is 2Gi. Correct spec.resources.',
    [],
  ],
  ['pods "a" is forbidden: somebody said no', 'FailedCreate', 'somebody said no', []],
])('%s', (message, reason, reported, short) => {
  expect(readRefusal(refused(message))).toMatchObject({
    reason,
    message: expect.stringContaining(reported),
    short,
  });
});

test('nothing is refused where the Deployment says nothing', () => {
  expect(readRefusal(null)).toBeNull();
  expect(readRefusal({ ...refused('x'), status: {} })).toBeNull();
});

test('a text without end is read as far as refusals are long', () => {
  const startedAt = performance.now();
  const refusal = readRefusal(refused('exceeded quota: '.repeat(60_000)));
  expect(refusal?.reason).toBe('FailedCreate');
  // Without a bound it is minutes.
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
