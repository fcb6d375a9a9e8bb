import { describe, expect, test } from '@jest/globals';
import { annotations, paths } from '@llmservice/crds';
import { planTemplate, type TemplateInputs } from './planned-template.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';

const inputs: TemplateInputs = {
  image: 'vllm:1',
  pullImage: 'runtime:1',
  operatorImage: null,
  size: { fileBytes: 20 * 2 ** 30, weightBytes: 20 * 2 ** 30 },
  memoryPlan: null,
  pins: null,
};
const spec = {
  model: { uri: 's3://b/m/', s3: { credentialsSecretRef: { name: 's3' }, caConfigMapRef: { name: 'ca' } } },
  accelerator: { profile: 'mi300x-cpx-nps4', devices: 2 },
  engine: { runtime: 'vllm' },
  env: [{ name: 'NCCL_SOCKET_IFNAME', value: 'lo' }],
};

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: string[];
  readonly env: { name: string }[];
}

function template(change: object = {}) {
  const { pod } = planTemplate(wantedService({ ...spec, ...change }), inputs);
  return pod as {
    metadata: { annotations: object };
    spec: { containers: [Container]; initContainers: [Container] } & object;
  };
}

describe('the pod of a service that vLLM serves', () => {
  const pod = template();
  const [weights] = pod.spec.initContainers;
  const [vllm] = pod.spec.containers;
  const names = ({ env }: Container): string[] => env.map(({ name }) => name);

  test('gets its weights from our puller, before vLLM starts', () => {
    expect(weights).toMatchObject({
      name: 'weights',
      image: 'runtime:1',
      command: ['node', 'runtime/dist/pull.js'],
      volumeMounts: expect.arrayContaining([
        { name: 'weights', mountPath: paths.weights },
        { name: 's3-ca', mountPath: paths.s3Ca, readOnly: true },
      ]),
    });
    expect(vllm).toMatchObject({
      image: 'vllm:1',
      volumeMounts: expect.arrayContaining([{ name: 'weights', mountPath: paths.weights, readOnly: true }]),
    });
    expect(vllm.command.slice(0, 3)).toEqual(['vllm', 'serve', paths.pulledCheckpoint]);
    expect(paths.pulledCheckpoint.startsWith(`${paths.weights}/`)).toBe(true);
  });

  test("keeps the bucket's keys from vLLM, and gives it what the accelerator and the user want", () => {
    expect(names(weights)).toEqual(expect.arrayContaining(['AWS_ACCESS_KEY_ID', 'NODE_EXTRA_CA_CERTS']));
    expect(names(vllm)).not.toContain('AWS_ACCESS_KEY_ID');
    expect(names(vllm)).toEqual(
      expect.arrayContaining(['HIP_FORCE_DEV_KERNARG', 'NCCL_SOCKET_IFNAME', 'HOME']),
    );
  });

  test('is asked at /health alone, for two hours until it has started', () => {
    const health = { httpGet: { path: '/health', port: 'http' } };
    expect(vllm).toMatchObject({
      ports: [{ name: 'http', containerPort: 8080 }],
      startupProbe: { ...health, periodSeconds: 2, failureThreshold: 3600 },
      livenessProbe: health,
      readinessProbe: health,
    });
  });

  test('keeps the end of its log, says whose log it is, and meets the restricted profile', () => {
    expect(vllm).toMatchObject({
      terminationMessagePolicy: 'FallbackToLogsOnError',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    });
    expect(pod.metadata.annotations).toMatchObject({ [annotations.engineRuntime]: 'vllm' });
    expect(pod.spec).toMatchObject({ securityContext: { runAsNonRoot: true } });
  });

  test('asks for its devices and has shared memory for its processes', () => {
    expect(vllm).toMatchObject({
      resources: { limits: { 'amd.com/gpu': '2' }, requests: { 'amd.com/gpu': '2', memory: '14336Mi' } },
    });
    expect(pod.spec).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'shared-memory', emptyDir: { medium: 'Memory', sizeLimit: '2048Mi' } },
      ]),
    });
  });

  test('hands the puller a config that asks for no device', () => {
    const { configMap } = planTemplate(wantedService(spec), inputs);
    const { data } = configMap as never as { data: Record<string, string> };
    expect(JSON.parse(data['engine-config.json']!)).toMatchObject({
      model: { uri: 's3://b/m/' },
      accelerator: { kind: 'cpu' },
    });
  });
});
