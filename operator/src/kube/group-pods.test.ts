import { expect, test } from '@jest/globals';
import { groupLabels } from '@llmservice/crds';
import { asDeployment } from './group-set.js';
import { isWorker } from './group-pods.js';
import { isPodOf } from './is-pod-of.js';
import type { Pod } from './types.js';

function podOf(controller: string, worker: string, kind = 'StatefulSet', set = 'chat-group'): Pod {
  const labels = { [groupLabels.set]: set, [groupLabels.group]: '1', [groupLabels.worker]: worker };
  const ownerReferences = [{ kind, name: controller, uid: 'u', controller: true }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels, ownerReferences } };
}

test.each([
  ['a leader', podOf('chat-group', '0'), true],
  ['a worker', podOf('chat-group-1', '2'), true],
  ['a worker of another group', podOf('chat-group-0', '2'), false],
  ['a leader of the workers’ StatefulSet', podOf('chat-group-1', '0'), false],
  ['a pod of another set', podOf('other-group', '0', 'StatefulSet', 'other-group'), false],
  ['a pod of another kind of controller', podOf('chat-group', '0', 'Job'), false],
])('%s with the labels of a group is a pod of the service or not', (_, pod, expected) => {
  expect(isPodOf(pod, 'chat')).toBe(expected);
});

test('a worker is distinguished from a leader and from a pod of no group', () => {
  expect(isWorker(podOf('chat-group-1', '2'))).toBe(true);
  expect(isWorker(podOf('chat-group', '0'))).toBe(false);
  expect(isWorker({ metadata: { name: 'p' } })).toBe(false);
});

test('a set is seen as a Deployment whose replicas are groups', () => {
  const template = { metadata: { annotations: { a: 'b' } } };
  const seen = asDeployment({
    ...{
      apiVersion: 'leaderworkerset.x-k8s.io/v1',
      kind: 'LeaderWorkerSet',
      metadata: { name: 'chat-group' },
    },
    spec: {
      replicas: 2,
      leaderWorkerTemplate: { size: 4, workerTemplate: template },
      rolloutStrategy: { rollingUpdateConfiguration: { maxSurge: 0, maxUnavailable: 1 } },
    },
    status: { observedGeneration: 3, replicas: 2, updatedReplicas: 2 },
  });
  expect(seen).toMatchObject({
    spec: { replicas: 2, template, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
    status: { observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 0 },
  });
});
