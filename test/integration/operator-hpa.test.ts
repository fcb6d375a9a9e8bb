// HorizontalPodAutoscalers of services, taken by the real controller: it asks for our metrics and scales the LlmService.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { eventually } from '../processes.js';
import { CustomMetrics } from './custom-metrics.js';
import { grantTeamRoles } from './operator-role.js';
import { World } from './operator-world.js';

jest.setTimeout(120_000);

let world: World;
let metrics: CustomMetrics;

beforeAll(async () => {
  world = await World.start();
  world.s3.put('models', 'llama', llamaCheckpoint());
  metrics = await CustomMetrics.start(world);
  world.startOperator({ timing: { metricsApiMs: 200 } });
}, 180_000);

afterAll(async () => {
  await metrics.stop();
  await world.stop();
});

const replicas = (wanted: number) =>
  eventually(
    `${String(wanted)} replicas`,
    async () => (await world.deployment('busy')).spec?.replicas === wanted,
    60_000,
  );

test('a service gets one that cannot scale while nobody reports its metrics, and says so', async () => {
  await world.createService('busy', {
    model: world.model('models/llama/'),
    resources: { limits: { memory: '1Gi' } },
    scaling: { maxReplicas: 4, target: 10, scaleDownStabilizationSeconds: 1 },
  });
  await eventually('the HPA', () => world.get(resources.horizontalPodAutoscalers, 'busy'));
  await world.makePod('busy', 'busy-1');
  await world.podServes('busy-1');
  const { message } = await world.condition('busy', 'ScalingActive', 'False', 'FailedGetPodsMetric');
  expect(message).toContain('vllm:num_requests_running');
});

test('its controller makes more pods of the LlmService, by what it asks most for', async () => {
  metrics.values = { 'vllm:num_requests_running': '8', 'vllm:num_requests_waiting': '27' };
  await world.condition('busy', 'ScalingActive', 'True', 'HorizontalPodAutoscaler');
  await replicas(3);
  expect(await world.get(resources.llmServices, 'busy')).toMatchObject({ spec: { replicas: 3 } });
});

test('and fewer, down to one', async () => {
  for (const pod of ['busy-2', 'busy-3']) {
    await world.makePod('busy', pod);
    await world.podServes(pod);
  }
  metrics.values = { 'vllm:num_requests_running': '0', 'vllm:num_requests_waiting': '0' };
  await replicas(1);
  expect(await world.get(resources.llmServices, 'busy')).toMatchObject({ spec: { replicas: 1 } });
});

test('it is written once, and goes when the operator’s own loop takes over', async () => {
  const writes = world.api
    .writes()
    .filter(({ resource, user }) => resource === 'horizontalpodautoscalers' && user === 'operator');
  expect(writes).toHaveLength(1);
  await metrics.unregister();
  await eventually(
    'no HPA',
    async () => (await world.get(resources.horizontalPodAutoscalers, 'busy')) === null,
  );
});

test('the chart’s roles are added to view and edit by their controller', async () => {
  await grantTeamRoles(world);
  const rbac = 'rbac.authorization.k8s.io';
  for (const role of ['view', 'edit']) {
    await world.request('POST', `/apis/${rbac}/v1/namespaces/default/rolebindings`, {
      ...{ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name: role } },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: rbac, kind: 'User', name: `has-${role}` }],
    });
  }
  const may = async (role: string, verb: string, subresource = ''): Promise<boolean> => {
    const attributes = {
      namespace: 'default',
      verb,
      group: 'llmservice.dev',
      resource: 'llmservices',
      subresource,
    };
    const { status } = await world.request<{ status: { allowed: boolean } }>(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
        spec: { user: `has-${role}`, resourceAttributes: attributes },
      },
    );
    return status.allowed;
  };
  await eventually('edit may write', () => may('edit', 'create'));
  await eventually('view may read', () => may('view', 'list'));
  expect(await may('edit', 'patch', 'scale')).toBe(true);
  expect(await may('view', 'create')).toBe(false);
  expect(await may('edit', 'patch', 'status')).toBe(false);
});
