import { expect, test } from '@jest/globals';
import { isPodOf, isPrefillPodOf } from './is-pod-of.js';
import type { Pod } from './types.js';

const replicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'demo-5f7',
  uid: 'u',
  controller: true,
};
const pod = (ownerReferences: Pod['metadata']['ownerReferences'], hash?: string): Pod => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: {
    name: 'demo-5f7-x',
    labels: {
      'llmservice.dev/service': 'demo',
      ...(hash === undefined ? {} : { 'pod-template-hash': hash }),
    },
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  },
});

test.each<[string, Pod, boolean]>([
  ['of the Deployment', pod([replicaSet], '5f7'), true],
  ['of nobody, with its labels', pod(undefined, '5f7'), false],
  ['of a ReplicaSet that does not control it', pod([{ ...replicaSet, controller: false }], '5f7'), false],
  ['of a Job', pod([{ ...replicaSet, kind: 'Job' }], '5f7'), false],
  ['of the Deployment of another service', pod([{ ...replicaSet, name: 'demo-two-5f7' }], '5f7'), false],
  ['of a ReplicaSet of a person', pod([{ ...replicaSet, name: 'demo-mine' }]), false],
])('a pod %s: %s', (_, each, owned) => {
  expect(isPodOf(each, 'demo')).toBe(owned);
});

test('a prefill pod is none of those that answer clients, nor of a service that has its Deployment’s name', () => {
  const each = pod([{ ...replicaSet, name: 'demo-prefill-5f7' }], '5f7');
  expect([isPrefillPodOf(each, 'demo'), isPodOf(each, 'demo')]).toEqual([true, false]);
  expect(isPrefillPodOf(pod([replicaSet], '5f7'), 'demo')).toBe(false);
});
