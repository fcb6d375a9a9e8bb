// Weights that pods of a node share: the volume, who may write to it, what the runtime gets, and what is refused.

import type { V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, test } from '@jest/globals';
import { paths, validateEngineConfig } from '@llmservice/crds';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { hostPath, inputs, pvc, withCache } from './cached-weights.fixture.js';
import { planService, type ClusterCapabilities } from './plan-service.js';
import { keepsToOwnFolder } from './pods/node-cache-volume.js';
import { noLimits } from './tenant-limits.js';
import { planTemplate, type TemplateInputs } from './pods/planned-template.js';

function podSpec(cache: object, change: Partial<TemplateInputs> = {}): V1PodSpec {
  const { pod } = planTemplate(withCache(cache), { ...inputs, ...change });
  return pod.spec;
}

const weightsOf = ({ volumes }: V1PodSpec): unknown => volumes?.find(({ name }) => name === 'weights');

function configOf(cache: object, change: Partial<TemplateInputs> = {}): unknown {
  const { configMap } = planTemplate(withCache(cache), { ...inputs, ...change });
  const checked = validateEngineConfig(
    JSON.parse((configMap['data'] as Record<string, string>)['engine-config.json']!),
  );
  return checked.ok ? checked.value.model.cache : checked.violations;
}

describe('a folder of the node', () => {
  test('is prepared by the operator’s own image, whatever image the service names', () => {
    const service = withCache(hostPath);
    const named = {
      ...service,
      spec: { ...service.spec, engine: { ...service.spec.engine, image: 'mine:1' } },
    };
    const { pod } = planTemplate(named, { ...inputs, image: 'mine:1' });
    expect(pod.spec.initContainers).toEqual([
      expect.objectContaining({
        image: 'operator:1',
        command: [
          ...['node', 'operator/dist/node-folder/main.js'],
          ...[paths.nodeFolder, 'namespaces/ns', '65532', '/var/cache/models'],
        ],
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: false,
          runAsUser: 0,
          runAsGroup: 0,
          capabilities: { drop: ['ALL'], add: ['CHOWN'] },
        },
        volumeMounts: [{ name: 'weights', mountPath: paths.nodeFolder }],
      }),
    ]);
    expect(pod.spec.initContainers?.[0]).not.toHaveProperty('env');
    expect(pod.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
    });
  });

  test('is mounted as the namespace’s own part of it, whose name is no part of the manifest', () => {
    const pod = podSpec(hostPath);
    expect(weightsOf(pod)).toEqual({
      name: 'weights',
      hostPath: { path: '/var/cache/models', type: 'DirectoryOrCreate' },
    });
    const mounts = (of: V1PodSpec): unknown =>
      of.containers[0]?.volumeMounts?.filter(({ name }) => name === 'weights');
    expect(mounts(pod)).toEqual([{ name: 'weights', mountPath: paths.weights, subPath: 'namespaces/ns' }]);
    const elsewhere = planTemplate({ ...withCache(hostPath), namespace: 'other' }, inputs).pod;
    expect(mounts(elsewhere.spec)).toMatchObject([{ subPath: 'namespaces/other' }]);
  });

  describe('of a stored template', () => {
    const rules = { allowedHostPaths: ['/var/cache/models'], operatorImage: 'operator:2' };
    const service = withCache(hostPath);
    const pod = podSpec(hostPath);
    const changed = (from: RegExp, to: string): object =>
      JSON.parse(JSON.stringify(pod).replaceAll(from, to)) as object;

    test('is what an operator of any version planned', () => {
      expect(keepsToOwnFolder(changed(/$/g, ''), service, rules)).toBe(true);
      expect(keepsToOwnFolder(podSpec({}), service, rules)).toBe(true);
    });

    test.each<[string, object]>([
      ['mounted whole', changed(/,"subPath":"[^"]*"/g, '')],
      ['another namespace’s', changed(/namespaces\/ns/g, 'namespaces/other')],
      ['of another path', changed(/\/var\/cache\/models/g, '/etc')],
      ['prepared by another image', changed(/operator:1/g, 'evil/operator:1')],
      ['prepared by another command', changed(/operator\/dist/g, 'evil/dist')],
      ['prepared with more rights', changed(/"CHOWN"/g, '"SYS_ADMIN"')],
    ])('is not one that is %s', (_, spec) => {
      expect(keepsToOwnFolder(spec, service, rules)).toBe(false);
    });

    test('is none where the operator does not know its own image', () => {
      expect(keepsToOwnFolder(pod, service, { ...rules, operatorImage: null })).toBe(false);
    });
  });

  test('is not room that the pod asks its node for', () => {
    expect(podSpec(hostPath).containers[0]?.resources?.requests).not.toHaveProperty('ephemeral-storage');
    expect(podSpec({}).containers[0]?.resources?.requests).toHaveProperty('ephemeral-storage');
  });
});

test('a claim is mounted as it is, by pods that stay within the restricted profile', () => {
  const pod = podSpec(pvc);
  expect(weightsOf(pod)).toEqual({ name: 'weights', persistentVolumeClaim: { claimName: 'weights' } });
  expect(pod).not.toHaveProperty('initContainers');
  expect(pod.securityContext).toMatchObject({ fsGroup: 65532, fsGroupChangePolicy: 'OnRootMismatch' });
});

describe('the runtime', () => {
  test('gets what the cache is, and by which names it knows the checkpoint', () => {
    expect(configOf(hostPath)).toEqual({
      volume: 'hostPath /var/cache/models/namespaces/ns',
      maxBytes: 200 * 2 ** 30,
      verify: 'onPull',
      pins: inputs.pins,
    });
    expect(configOf(pvc)).toMatchObject({ volume: 'claim weights', maxBytes: null, verify: 'always' });
    expect(configOf(pvc, { pins: null })).toMatchObject({ pins: { model: null, head: null } });
  });

  test('gets nothing, and the pod is as it was, where nothing is shared', () => {
    expect(configOf({})).toBeUndefined();
    const revision = (cache: object): string => planTemplate(withCache(cache), inputs).revision;
    expect(revision({})).toBe(planTemplate(wantedService(), { ...inputs, pins: null }).revision);
  });
});

describe('a path that the operator', () => {
  const planned = (allowedHostPaths: readonly string[], operatorImage: string | null = 'operator:1') => {
    const images = { cpu: 'runtime:1', cuda: null, hip: null };
    const capabilities: ClusterCapabilities = {
      images,
      vllmImages: images,
      operatorImage,
      gateway: null,
      gatewayApi: false,
      backendTls: false,
      deviceClaims: true,
      leaderWorkerSets: true,
      authority: { state: 'none' },
      istioGateway: null,
      istio: false,
      keda: false,
      customMetrics: false,
      prometheusUrl: null,
      endpointPickerImage: null,
      inferencePools: false,
      destinationRules: false,
      allowedHostPaths,
      limits: noLimits,
      hostTaken: false,
    };
    const checkpoint = { model: null, weightBytes: 1, fileBytes: 1, fingerprint: 'f' };
    return planService(withCache(hostPath), { state: 'resolved', checkpoint }, capabilities);
  };

  test('allows, whole, is used', () => {
    const { obstacle, groundwork } = planned(['/srv', '/var/cache/models']);
    expect(obstacle).toBeNull();
    expect(groundwork).toMatchObject({ image: 'runtime:1', operatorImage: 'operator:1' });
  });

  test.each([[[]], [['/var/cache/mod']], [['/var/cache']], [['/']], [['/var/cache/models/below']]])(
    'does not allow by %j',
    (allowed) => {
      const { obstacle, groundwork } = planned(allowed);
      expect(obstacle).toMatchObject({ reason: 'HostPathNotAllowed', terminal: true });
      expect(obstacle?.message).toContain('--allow-host-path=/var/cache/models');
      expect(groundwork).toBeNull();
    },
  );

  test('allows is not prepared by another image where the operator does not know its own', () => {
    expect(planned(['/var/cache/models'], null)).toMatchObject({
      obstacle: { reason: 'RuntimeImageMissing', message: expect.stringContaining('--operator-image') },
      groundwork: null,
    });
  });
});
