import { expect, test } from '@jest/globals';
import type { Pod } from '../kube/types.js';
import { podAsRead } from './pod-as-read.js';

const mib = 'x'.repeat(2 ** 20);

test('texts of a pod are kept as long as those who write them by right make them', () => {
  const terminated = { exitCode: 1, message: mib };
  const container = {
    name: 'runtime',
    ready: false,
    restartCount: 1,
    state: { terminated },
    lastState: { terminated },
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'demo-1' },
    status: {
      phase: 'Failed',
      conditions: [{ type: 'PodScheduled', status: 'False', message: mib }],
      containerStatuses: [container],
      initContainerStatuses: [container],
    },
  };
  const { status } = podAsRead(pod) as Pod;
  expect(status?.phase).toBe('Failed');
  expect(status?.conditions?.[0]?.message).toHaveLength(8192);
  for (const { state, lastState } of [...status!.containerStatuses!, ...status!.initContainerStatuses!]) {
    expect([state?.terminated?.message?.length, lastState?.terminated?.message?.length]).toEqual([
      4096, 4096,
    ]);
  }
});

test("the templates of a pod's claims are kept, by which a rollout knows what it holds", () => {
  const resourceClaims = [{ name: 'devices', resourceClaimTemplateName: 'mine' }];
  const pod: Pod = {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name: 'a' },
    spec: { resourceClaims },
  };
  expect((podAsRead(pod) as Pod).spec?.resourceClaims).toEqual(resourceClaims);
});
