import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../kube/types.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { children } from './children.fixture.js';
import { refusedGroups } from './groups-served.js';

const spec = {
  accelerator: { devices: 4 },
  parallelism: { nodes: 2 },
  resources: { limits: { memory: '8Gi' } },
};
const grouped = children(wantedService(spec), { replicas: 3, goodRevision: 'demo-1' });
const named = (kind: string, name: string): KubeObject | undefined =>
  [...grouped.groupServices, ...grouped.others].find(
    (each) => each.kind === kind && each.metadata.name === name,
  );

describe('a replica on two nodes', () => {
  test('is a group of a LeaderWorkerSet that starts again as one, in place of a Deployment', () => {
    expect(grouped.deployment).toMatchObject({
      apiVersion: 'leaderworkerset.x-k8s.io/v1',
      kind: 'LeaderWorkerSet',
      metadata: {
        name: 'demo-group',
        annotations: { 'llmservice.dev/good-revision': 'demo-1' },
        ownerReferences: [{ kind: 'LlmService', name: 'demo', uid: 'uid-1', controller: true }],
      },
      spec: {
        replicas: 3,
        rolloutStrategy: { rollingUpdateConfiguration: { maxSurge: 1, maxUnavailable: 0 } },
        leaderWorkerTemplate: { size: 2, restartPolicy: 'RecreateGroupOnPodRestart' },
      },
    });
    expect(grouped.others.some(({ kind }) => kind === 'Deployment')).toBe(false);
  });

  test('has pods that find their leader, half of the ranks each', () => {
    const template = JSON.stringify(grouped.deployment['spec']);
    expect(template).toContain('{"name":"LLMSERVICE_RANK_PORT","value":"7070"}');
    expect(template).toContain('{"name":"ranks","containerPort":7070,"protocol":"TCP"}');
    expect(JSON.stringify(grouped.configMap)).toContain('\\"tensor\\": 4');
  });

  test('is reached by its leader alone, and the ranks by each other alone', () => {
    const leader = { 'leaderworkerset.sigs.k8s.io/worker-index': '0' };
    expect(named('Service', 'demo')).toMatchObject({ spec: { selector: leader } });
    expect(named('Service', 'demo-group')).toMatchObject({
      spec: { clusterIP: 'None', publishNotReadyAddresses: true },
    });
    const own = { podSelector: { matchLabels: { 'llmservice.dev/service': 'demo' } } };
    expect((named('NetworkPolicy', 'demo')?.['spec'] as { ingress: unknown }).ingress).toEqual([
      { ports: [{ port: 8080, protocol: 'TCP' }] },
      { from: [own] },
    ]);
  });
});

test('a replica on one node has none of it', () => {
  const alone = children(wantedService({ accelerator: { devices: 4 } }));
  expect(alone.deployment.kind).toBe('Deployment');
  const text = JSON.stringify(alone);
  for (const word of ['RANK_PORT', 'worker-index', 'demo-group', 'NetworkPolicy', '"ranks"'])
    expect(text).not.toContain(word);
});

test('without the API it is refused with what to install, or which right is missing', () => {
  const refused = (served: Parameters<typeof refusedGroups>[1], nodes = 2) =>
    refusedGroups({ nodes }, served)?.message ?? null;
  expect(refused({ leaderWorkerSets: false })).toContain('install LWS (https://lws.sigs.k8s.io)');
  expect(refused({ leaderWorkerSets: false, forbidden: ['leaderworkersets'] })).toContain(
    'install its chart anew',
  );
  expect(refused({ leaderWorkerSets: true })).toBeNull();
  expect(refused({ leaderWorkerSets: false }, 1)).toBeNull();
});
