import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig } from '@llmservice/checkpoint';
import { validateEngineConfig } from '@llmservice/crds';
import { qwen36Config } from '../../../checkpoint/src/config/config.fixture.js';
import { evenWeights } from '../../../checkpoint/src/weights/resident-weights.fixture.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { children, container, podSpec } from './children.fixture.js';
import { planFit } from './fit/memory.js';
import { replacementOf } from './rollouts/replacement.js';

/** The deployment whose place this service takes: Qwen3.6-27B-FP8 on two MI300X partitions. */
const reference = {
  model: { uri: 's3://wmf-ml-models/llm/Qwen3.6-27B-FP8/', s3: { credentialsSecretRef: { name: 's3' } } },
  accelerator: { resourceName: 'amd.com/gpu', devices: 2, memoryPerDevice: '48Gi' },
  engine: { maxModelLen: 32768 },
  sharedMemory: { sizeLimit: '8Gi' },
  env: [{ name: 'NCCL_SOCKET_IFNAME', value: 'lo' }],
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'ml', effect: 'NoSchedule' }],
  nodeSelector: { 'kubernetes.io/hostname': 'ml-serve1' },
  routing: { host: 'qwen36-27b.experimental.wikimedia.org' },
};

describe('the reference deployment', () => {
  const service = wantedService(reference);

  test('fits, two ranks on two partitions', () => {
    const fit = planFit(service, { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) });
    expect(fit).toMatchObject({
      state: 'fits',
      devices: 2,
      plan: { maxModelLen: 32768, weightBytes: 14.5e9 },
    });
  });

  test('asks for its devices and nothing that the spec did not say', () => {
    expect(container(reference)['resources']).toMatchObject({
      limits: { 'amd.com/gpu': '2' },
      requests: { 'amd.com/gpu': '2' },
    });
    expect(podSpec(reference)).toMatchObject({
      nodeSelector: reference.nodeSelector,
      tolerations: reference.tolerations,
      volumes: expect.arrayContaining([
        { name: 'shared-memory', emptyDir: { medium: 'Memory', sizeLimit: '8192Mi' } },
      ]),
    });
  });

  test('has a limit of host memory, which the manifest may set, and which is never below the request', () => {
    const memory = (resources?: object): unknown =>
      (container({ ...reference, ...(resources && { resources }) })['resources'] as { limits: object })
        .limits;
    expect(memory()).toMatchObject({ memory: '24576Mi' });
    expect(memory({ limits: { memory: '12Gi' } })).toMatchObject({ memory: '12Gi' });
    expect(memory({ requests: { memory: '64Gi' } })).toMatchObject({ memory: '65536Mi' });
    expect(container({ model: reference.model })['resources']).not.toHaveProperty('limits.memory');
  });

  test('may load for as long as it likes', () => {
    expect(children(service).deployment).toMatchObject({ spec: { progressDeadlineSeconds: 2147483647 } });
  });

  test.each([
    ['surge', 1, 0],
    ['drain', 0, 1],
    ['drainAll', 0, '100%'],
  ] as const)('replaces its pods by %s', (replacement, maxSurge, maxUnavailable) => {
    const { deployment } = children(service, { replacement });
    expect(deployment).toMatchObject({
      spec: { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } },
    });
    expect(replacementOf(deployment)).toBe(replacement);
  });

  test('hands the runtime a config that the contract accepts', () => {
    const { configMap } = children(service);
    const config: unknown = JSON.parse(
      (configMap as never as { data: Record<string, string> }).data['engine-config.json']!,
    );
    expect(validateEngineConfig(config)).toMatchObject({
      ok: true,
      value: { accelerator: { kind: 'hip', memoryBytesPerDevice: 48 * 2 ** 30 }, parallelism: { tensor: 2 } },
    });
  });

  test('is reached by its host, without a time limit, and not at its metrics', () => {
    const route = children(service).others.find(({ kind }) => kind === 'HTTPRoute');
    expect(route).toMatchObject({
      spec: {
        hostnames: ['qwen36-27b.experimental.wikimedia.org'],
        parentRefs: [{ name: 'public', namespace: 'gateways' }],
        rules: [{ timeouts: { request: '0s' } }],
      },
    });
    expect(JSON.stringify(route)).not.toContain('/metrics');
  });
});
