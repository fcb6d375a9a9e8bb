// Weights that pods of a node share: the volume, who may write to it, what the runtime is told, and what is refused.

import { describe, expect, test } from '@jest/globals';
import { paths, validateEngineConfig } from '@llmservice/crds';
import { wantedService } from './wanted-service.fixture.js';
import { planService, type Surroundings } from './plan-service.js';
import { planTemplate, type TemplateInputs } from './planned-template.js';

const inputs: TemplateInputs = {
  image: 'runtime:1',
  pullImage: null,
  size: { fileBytes: 29e9, weightBytes: 29e9 },
  memoryPlan: null,
  pins: { model: '0123456789abcdef', head: null },
};
const withCache = (cache: object) => wantedService({ model: { uri: 's3://bucket/folder/', cache } });
const hostPath = { kind: 'hostPath', path: '/var/cache/models', maxSize: '200Gi' };
const pvc = { kind: 'pvc', claimName: 'weights', verify: 'always' };

interface PodSpec {
  readonly initContainers?: readonly Record<string, unknown>[];
  readonly containers: readonly [{ readonly resources: { readonly requests: Record<string, unknown> } }];
  readonly volumes: readonly { readonly name: string }[];
  readonly securityContext: object;
}

function podSpec(cache: object, change: Partial<TemplateInputs> = {}): PodSpec {
  const { pod } = planTemplate(withCache(cache), { ...inputs, ...change });
  return (pod as { spec: PodSpec }).spec;
}

const weightsOf = ({ volumes }: PodSpec): unknown => volumes.find(({ name }) => name === 'weights');

function configOf(cache: object, change: Partial<TemplateInputs> = {}): unknown {
  const { configMap } = planTemplate(withCache(cache), { ...inputs, ...change });
  const checked = validateEngineConfig(
    JSON.parse((configMap['data'] as Record<string, string>)['engine-config.json']!),
  );
  return checked.ok ? checked.value.model.cache : checked.violations;
}

describe('a folder of the node', () => {
  test('is made, and given to the runtime by a container that may change owners and nothing else', () => {
    const pod = podSpec(hostPath);
    expect(weightsOf(pod)).toEqual({
      name: 'weights',
      hostPath: { path: '/var/cache/models', type: 'DirectoryOrCreate' },
    });
    expect(pod.initContainers).toEqual([
      expect.objectContaining({
        command: ['/bin/chown', '65532:65532', paths.weights],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: false,
          runAsUser: 0,
          capabilities: { drop: ['ALL'], add: ['CHOWN'] },
        },
      }),
    ]);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 });
  });

  test('is not room that the pod asks its node for', () => {
    expect(podSpec(hostPath).containers[0].resources.requests).not.toHaveProperty('ephemeral-storage');
    expect(podSpec({}).containers[0].resources.requests).toHaveProperty('ephemeral-storage');
  });
});

test('a claim is mounted as it is, by pods that stay within the restricted profile', () => {
  const pod = podSpec(pvc);
  expect(weightsOf(pod)).toEqual({ name: 'weights', persistentVolumeClaim: { claimName: 'weights' } });
  expect(pod).not.toHaveProperty('initContainers');
  expect(pod.securityContext).toMatchObject({ fsGroup: 65532, fsGroupChangePolicy: 'OnRootMismatch' });
});

describe('the runtime', () => {
  test('is told what the cache is, and by which names it knows the checkpoint', () => {
    expect(configOf(hostPath)).toEqual({
      volume: 'hostPath /var/cache/models',
      maxBytes: 200 * 2 ** 30,
      verify: 'onPull',
      pins: inputs.pins,
    });
    expect(configOf(pvc)).toMatchObject({ volume: 'claim weights', maxBytes: null, verify: 'always' });
    expect(configOf(pvc, { pins: null })).toMatchObject({ pins: { model: null, head: null } });
  });

  test('is told nothing, and the pod is as it was, where nothing is shared', () => {
    expect(configOf({})).toBeUndefined();
    const revision = (cache: object): string => planTemplate(withCache(cache), inputs).revision;
    expect(revision({})).toBe(planTemplate(wantedService(), { ...inputs, pins: null }).revision);
  });
});

describe('a path that the operator', () => {
  const planned = (allowedHostPaths: readonly string[]) => {
    const images = { cpu: 'runtime:1', cuda: null, hip: null };
    const surroundings: Surroundings = {
      images,
      vllmImages: images,
      gateway: null,
      gatewayApi: false,
      istioGateway: null,
      istio: false,
      keda: false,
      customMetrics: false,
      prometheusUrl: null,
      allowedHostPaths,
    };
    const checkpoint = { model: null, weightBytes: 1, fileBytes: 1, fingerprint: 'f' };
    return planService(withCache(hostPath), { state: 'resolved', checkpoint }, surroundings);
  };

  test.each([[['/var/cache']], [['/srv', '/var/cache/models']], [['/']]])('allows by %j', (allowed) => {
    expect(planned(allowed)).toMatchObject({ obstacle: null, groundwork: { image: 'runtime:1' } });
  });

  test.each([[[]], [['/var/cache/mod']], [['/var/cache/models/below']]])(
    'does not allow by %j',
    (allowed) => {
      const { obstacle, groundwork } = planned(allowed);
      expect(obstacle).toMatchObject({ reason: 'HostPathNotAllowed', terminal: true });
      expect(obstacle?.message).toContain('--allow-host-path=/var/cache/models');
      expect(groundwork).toBeNull();
    },
  );
});
