import { describe, expect, test } from '@jest/globals';
import { parseCheckpointConfig, sharedMemoryNeeded } from '@llmservice/checkpoint';
import { paths, specDefaults, validateEngineConfig } from '@llmservice/crds';
import { qwen36Config } from '../../../checkpoint/src/config/config.fixture.js';
import { evenWeights } from '../../../checkpoint/src/weights/resident-weights.fixture.js';
import type { WantedService } from '../domain/wanted-service.js';
import { failedAttemptAnnotation, planChildren, type ChildInputs, type PlannedChildren } from './children.js';
import { planEngineConfig } from './pods/engine-config.js';
import { podMetadata } from './pods/pod-metadata.js';
import { planFit } from './fit/memory.js';
import { replacementOf } from './rollouts/replacement.js';
import { planTemplate, type TemplateInputs } from './pods/planned-template.js';
import { planAttempt, specHash } from './rollouts/spec-hash.js';
import { wantedService } from '../resource/wanted-service.fixture.js';

const templateInputs: TemplateInputs = {
  image: 'runtime:1',
  pullImage: null,
  operatorImage: null,
  size: { fileBytes: 29e9, weightBytes: 29e9 },
  memoryPlan: null,
  pins: null,
};

function children(service: WantedService, change: Partial<ChildInputs> = {}): PlannedChildren {
  return planChildren(service, {
    template: planTemplate(service, templateInputs),
    replicas: 1,
    replacement: 'surge',
    failedAttempt: null,
    goodRevision: null,
    asleep: null,
    activators: null,
    autoscaler: null,
    gateway: { name: 'public', namespace: 'gateways', provider: 'gatewayApi' },
    fallback: { state: 'none' },
    operatorNamespace: 'llmservice-system',
    ...change,
  });
}

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

function podSpec(spec: object) {
  const { deployment } = children(wantedService(spec));
  return (deployment as never as { spec: { template: { spec: Record<string, never> } } }).spec.template.spec;
}

function container(spec: object) {
  return (podSpec(spec)['containers'] as never as Record<string, unknown>[])[0]!;
}

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

describe('the pod', () => {
  /** Says to the server which service it is of. */
  const itself = { name: 'LLMSERVICE_SERVICE', value: 'ns/demo' };

  test('meets the restricted profile', () => {
    expect(podSpec({})).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container({})).toMatchObject({
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    });
  });

  test('has time to drain: 5 s before, the drain, 15 s after', () => {
    expect(podSpec({ rollout: { drainTimeoutSeconds: 60 } })).toMatchObject({
      terminationGracePeriodSeconds: 80,
    });
  });

  test("the user's variable replaces ours of the same name", () => {
    const env = [{ name: 'AWS_ACCESS_KEY_ID', value: 'mine' }];
    const s3 = { credentialsSecretRef: { name: 'keys' } };
    const planned = container({ model: { uri: 's3://b/x', s3 }, env })['env'] as {
      name: string;
      value?: string;
    }[];
    expect(planned.filter(({ name }) => name === 'AWS_ACCESS_KEY_ID')).toEqual(env);
    expect(planned.map(({ name }) => name)).toContain('AWS_SECRET_ACCESS_KEY');
  });

  test.each([[{ profile: 'mi300x-cpx-nps4' }], [{ profile: 'mi210' }], [{ resourceName: 'amd.com/gpu' }]])(
    'on %j gets what AMD advises, unless the user says otherwise',
    (accelerator) => {
      const ours = { name: 'HIP_FORCE_DEV_KERNARG', value: '1' };
      const users = { ...ours, value: '0' };
      expect(container({ accelerator })['env']).toEqual([itself, ours]);
      expect(container({ accelerator, env: [users] })['env']).toEqual([itself, users]);
    },
  );

  test('passes the server what the spec says of it, the place of the request log, and where administrators are', () => {
    expect(container({})['env']).toEqual([itself]);
    const spec = {
      administration: { keysSecretRef: { name: 'admins' } },
      requestLog: { uri: 's3://logs/demo/', text: true },
      server: { maxBodyBytes: 65_536, maxWaiting: 0, logLevel: 'debug' },
    };
    expect(container(spec)).toMatchObject({
      env: expect.arrayContaining([
        { name: 'LLMSERVICE_MAX_BODY_BYTES', value: '65536' },
        { name: 'LLMSERVICE_MAX_WAITING', value: '0' },
        { name: 'LLMSERVICE_LOG_LEVEL', value: 'debug' },
        { name: 'LLMSERVICE_ADMIN_HOST', value: '127.0.0.1' },
        { name: 'LLMSERVICE_ADMIN_PORT', value: '8083' },
        { name: 'LLMSERVICE_ADMIN_KEYS_DIR', value: paths.administrationKeys },
        { name: 'LLMSERVICE_REQUEST_LOG_URI', value: 's3://logs/demo/' },
        { name: 'LLMSERVICE_REQUEST_LOG_TEXT', value: 'true' },
      ]),
      volumeMounts: expect.arrayContaining([
        { name: 'administration', mountPath: paths.administrationKeys, readOnly: true },
      ]),
    });
    expect(podSpec(spec)).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'administration', secret: { secretName: 'admins', defaultMode: 0o440, optional: true } },
      ]),
    });
  });

  test('has the keys and the accounting log where the runtime looks for them', () => {
    const spec = {
      replicas: 2,
      auth: { keysSecretRef: { name: 'team-keys' }, maxReplicas: 4, protectMetrics: true },
      accounting: { persistentVolumeClaimRef: { name: 'usage' } },
    };
    const config = planEngineConfig(wantedService(spec));
    expect(config.auth).toEqual({ keysDir: paths.keys, maxReplicas: 4, protectMetrics: true });
    expect(config.accounting).toEqual({ dir: `${paths.accounting}/demo` });
    // A mount with a subPath would never see another version of the Secret.
    expect(container(spec)).toMatchObject({
      volumeMounts: expect.arrayContaining([
        { name: 'keys', mountPath: config.auth.keysDir, readOnly: true },
        { name: 'accounting', mountPath: paths.accounting },
      ]),
    });
    expect(podSpec(spec)).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'keys', secret: { secretName: 'team-keys', defaultMode: 0o440, optional: true } },
        { name: 'accounting', persistentVolumeClaim: { claimName: 'usage' } },
      ]),
    });
  });

  test('without keys and accounting has neither', () => {
    const { auth, accounting } = planEngineConfig(wantedService());
    expect([auth, accounting]).toEqual([
      { keysDir: null, maxReplicas: 1, protectMetrics: false },
      { dir: null },
    ]);
    expect(JSON.stringify(podSpec({}))).not.toMatch(/secretName|persistentVolumeClaim|accounting/);
  });

  test('with a certificate speaks HTTPS: to probes, to the Service, and to nobody by plain HTTP', () => {
    const spec = { tls: { secretRef: { name: 'demo-tls' } } };
    const https = { httpGet: { port: 'https', scheme: 'HTTPS' } };
    expect(container(spec)).toMatchObject({
      ports: [{ name: 'https', containerPort: 8080 }],
      env: [itself, { name: 'LLMSERVICE_TLS_DIR', value: paths.tls }],
      startupProbe: https,
      livenessProbe: https,
      readinessProbe: https,
      volumeMounts: expect.arrayContaining([{ name: 'tls', mountPath: paths.tls, readOnly: true }]),
    });
    expect(podSpec(spec)).toMatchObject({
      volumes: expect.arrayContaining([
        { name: 'tls', secret: { secretName: 'demo-tls', defaultMode: 0o440, optional: true } },
      ]),
    });
    const service = children(wantedService(spec)).others.find(({ kind }) => kind === 'Service');
    expect(service).toMatchObject({
      spec: { ports: [{ name: 'https', port: 443, targetPort: 'https', appProtocol: 'https' }] },
    });
  });

  test('is of another revision when its config changes, and not when the service scales', () => {
    const revision = (spec: object) => planTemplate(wantedService(spec), templateInputs).revision;
    expect(revision({ engine: { maxNumSeqs: 8 } })).not.toBe(revision({}));
    expect(revision({ replicas: 3 })).toBe(revision({}));
  });
});

describe('a failureHold service', () => {
  test('remembers on its Deployment what failed', () => {
    const { deployment } = children(wantedService(), { replicas: 0, failedAttempt: 'abc' });
    expect(deployment.metadata.annotations).toMatchObject({ [failedAttemptAnnotation]: 'abc' });
    expect(deployment).toMatchObject({ spec: { replicas: 0 } });
  });

  test('is tried again for another spec, checkpoint or retry annotation, but not for another scale', () => {
    const attempt = planAttempt(wantedService(), 'print');
    expect(planAttempt(wantedService({ replicas: 2 }), 'print')).toBe(attempt);
    expect(planAttempt(wantedService({ scaling: { maxReplicas: 3 } }), 'print')).toBe(attempt);
    expect(planAttempt(wantedService({ budget: { deviceHoursPerMonth: 9 } }), 'print')).toBe(attempt);
    expect(planAttempt(wantedService({ engine: { maxModelLen: 9 } }), 'print')).not.toBe(attempt);
    expect(planAttempt(wantedService(), 'other')).not.toBe(attempt);
    expect(planAttempt(wantedService({}, { 'llmservice.dev/retry': '1' }), 'print')).not.toBe(attempt);
  });

  test('is the same attempt for a field that says its default, as a newer CRD fills it in', () => {
    const { spec } = wantedService();
    expect(spec.engine).toMatchObject(specDefaults.engine);
    const without = { ...spec, engine: {}, tls: undefined, accounting: undefined } as never;
    expect(specHash({ spec: without })).toBe(specHash({ spec }));
    expect(specHash({ spec: { ...spec, env: [] } })).not.toBe(specHash({ spec }));
  });
});

describe('the pods', () => {
  const template = (spec: object) =>
    (
      children(wantedService(spec)).deployment as never as {
        spec: {
          template: {
            metadata: Record<'labels' | 'annotations', Record<string, string>>;
            spec: { securityContext: object };
          };
        };
      }
    ).spec.template;

  test('point Prometheus to where their metrics are, unless only a key opens them', () => {
    const scraped = {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '8080',
      'prometheus.io/path': '/metrics',
    };
    const https = { tls: { secretRef: { name: 't' } } };
    expect(template({}).metadata.annotations).toMatchObject({ ...scraped, 'prometheus.io/scheme': 'http' });
    expect(template(https).metadata.annotations).toMatchObject({ 'prometheus.io/scheme': 'https' });
    const keys = { auth: { keysSecretRef: { name: 'k' }, protectMetrics: true } };
    expect(template(keys).metadata.annotations).not.toHaveProperty('prometheus.io/scrape');
  });

  test('have what the user adds, and keep what is ours', () => {
    const { metadata, spec } = template({
      podLabels: { team: 'search' },
      podAnnotations: { 'prometheus.io/scrape': 'false', owner: 'search' },
      supplementalGroups: [109],
    });
    expect(metadata.labels).toMatchObject({ team: 'search', 'llmservice.dev/service': 'demo' });
    const service = wantedService();
    const podLabels = { 'llmservice.dev/service': 'other' };
    const { labels } = podMetadata({ ...service, spec: { ...service.spec, podLabels } }, {});
    expect(labels).toMatchObject({ 'llmservice.dev/service': 'demo' });
    expect(metadata.annotations).toMatchObject({ 'prometheus.io/scrape': 'false', owner: 'search' });
    expect(spec.securityContext).toMatchObject({ supplementalGroups: [109] });
  });
});

test('a number of ranks that does not divide the model is refused on the CPU too, others are not', () => {
  const checkpoint = { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) };
  const ranks = (devices: number) => planFit(wantedService({ accelerator: { devices } }), checkpoint);
  expect(ranks(3)).toMatchObject({ state: 'failed', failure: { reason: 'ParallelismInvalid' } });
  expect(ranks(2)).toEqual({ state: 'unmeasured' });
});

test('a /dev/shm that the ranks on the CPU do not fit in is refused with the size needed', () => {
  const checkpoint = { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) };
  const spec = { accelerator: { devices: 4 }, sharedMemory: { sizeLimit: '8Mi' } };
  expect(planFit(wantedService(spec), checkpoint)).toMatchObject({
    failure: {
      reason: 'SharedMemoryTooSmall',
      detail: { needed: sharedMemoryNeeded(4), available: 8 * 2 ** 20 },
    },
  });
});

test('unknown memory is no ground to refuse, but ranks and context are still checked', () => {
  const checkpoint = { shape: parseCheckpointConfig(qwen36Config), weights: evenWeights(29e9) };
  expect(planFit(wantedService(), checkpoint)).toEqual({ state: 'unmeasured' });
  expect(planFit(wantedService({ engine: { maxModelLen: 1_000_000 } }), checkpoint)).toMatchObject({
    failure: { reason: 'InvalidEngineConfig' },
  });
});
