import { describe, expect, test } from '@jest/globals';
import { gpu, known, refused, service, taken } from './class.fixture.js';
import { resolveClass } from './resolve-class.js';

describe('bounds', () => {
  test.each([
    [
      { accelerators: ['h100', 'none'] },
      { accelerator: { profile: 'b200' } },
      'spec.accelerator.profile is b200',
    ],
    [{ accelerators: ['h100'] }, {}, 'spec.accelerator.resourceName is none'],
    [
      { accelerators: ['nvidia.com/gpu'] },
      { accelerator: { profile: 'h100', claim: {} } },
      'spec.accelerator.profile is h100',
    ],
    [{ maxDevices: 1 }, { accelerator: { profile: 'h100', devices: 2 } }, 'spec.accelerator.devices is 2'],
    [{ maxReplicas: 2 }, { replicas: 3 }, 'spec.replicas is 3'],
    [{ maxReplicas: 2 }, { scaling: { maxReplicas: 3 } }, 'spec.scaling.maxReplicas is 3'],
    [
      { maxReplicas: 2 },
      { disaggregation: { prefill: { replicas: 3 } } },
      'spec.disaggregation.prefill.replicas is 3',
    ],
    [
      { maxReplicas: 2 },
      { replicas: 2, routing: { host: 'a.example' }, canary: { steps: [{ weight: 10 }] } },
      'spec.canary.replicas is 1 beside 2 pods',
    ],
    [
      { maxReplicas: 4 },
      { scaling: { maxReplicas: 3 }, disaggregation: { prefill: { replicas: 2 } } },
      'spec.disaggregation.prefill.replicas is 2 beside 3 pods',
    ],
    [
      { uris: ['s3://models/**'] },
      { requestLog: { uri: 's3://elsewhere/log/' } },
      'spec.requestLog.uri is s3://elsewhere/log/',
    ],
    ...(['storedResponses', 'batches'] as const).map(
      (kind) =>
        [
          { uris: ['s3://models/**'] },
          { server: { [kind]: { uri: 's3://elsewhere/a/', maxBytes: 1048576 } } },
          `spec.server.${kind}.uri is s3://elsewhere/a/`,
        ] as const,
    ),
    [
      { images: ['example.org/llm/*'] },
      { engine: { image: 'evil.example/x:1' } },
      'spec.engine.image is evil.example/x:1',
    ],
    [{ uris: ['s3://models/team/**'] }, {}, 'spec.model.uri is s3://models/m/'],
    [
      { uris: ['s3://models/*/'] },
      { adapters: [{ name: 'a', uri: 's3://other/a/' }] },
      'spec.adapters[0].uri is s3://other/a/',
    ],
    [
      { endpoints: ['https://s3.example.org'] },
      { model: { uri: 's3://m/m/', s3: { endpoint: 'https://other.example' } } },
      'spec.model.s3.endpoint is https://other.example',
    ],
    [
      { hosts: ['*.example.org'] },
      { routing: { host: 'a.b.example.org' } },
      'spec.routing.host is a.b.example.org',
    ],
    [{ maxDeviceHoursPerMonth: 10 }, {}, 'spec.budget.deviceHoursPerMonth is not set'],
    [
      { maxDeviceHoursPerMonth: 10 },
      { budget: { deviceHoursPerMonth: 10, action: 'warn' } },
      'spec.budget.action is warn',
    ],
    // What a variable says is the service's own.
    [
      { uris: ['s3://models/**'] },
      { model: { uri: 's3://models/m/' }, engine: { speculative: { method: 'mtp', uri: 's3://x/y/' } } },
      'spec.engine.speculative.uri is s3://x/y/',
    ],
  ])('%j refuse %j', (bounds, spec, found) => {
    expect(refused(resolveClass(service(spec), known(gpu({ bounds }))))).toEqual([
      expect.stringMatching(new RegExp(`^${found.replace(/[.[\]/*]/g, '\\$&')}`)),
    ]);
  });

  test.each([
    // A folder that is left again, and hosts that are none.
    [
      { uris: ['s3://models/**'] },
      { model: { uri: 's3://models/../other/m/' } },
      'spec.model.uri is s3://models/../other/m/',
    ],
    ...[
      'https://evil.example?.example.org',
      'https://evil.example#.example.org',
      'https://evil.example\\.example.org',
    ].map(
      (endpoint) =>
        [
          { endpoints: ['https://*.example.org'] },
          { model: { uri: 's3://m/m/', s3: { endpoint } } },
          `spec.model.s3.endpoint is ${endpoint}`,
        ] as const,
    ),
    // Devices that spec.accelerator does not say.
    ...[{ accelerators: ['none'] }, { maxDevices: 1 }].flatMap((bounds) => [
      [
        bounds,
        { resources: { limits: { 'nvidia.com/gpu': 8 } } },
        'spec.resources.limits asks for devices',
      ] as const,
      [
        bounds,
        { env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }] },
        'spec.env[0].name asks for devices',
      ] as const,
      [
        bounds,
        { podAnnotations: { 'cdi.k8s.io/a': 'nvidia.com/gpu=all' } },
        'spec.podAnnotations asks for devices',
      ] as const,
    ]),
    [
      { accelerators: ['h100'] },
      { accelerator: { profile: 'h100' }, resources: { requests: { 'example.org/npu': 1 } } },
      'spec.resources.requests asks for devices',
    ],
    ...[{ templateName: 'mine' }, { deviceClassName: 'mine' }, { selectors: ['true'] }].map(
      (claim) =>
        [
          { accelerators: ['h100'] },
          { accelerator: { profile: 'h100', claim } },
          `spec.accelerator.claim.${Object.keys(claim).join()}`,
        ] as const,
    ),
    [
      { maxDevices: 1 },
      { accelerator: { profile: 'h100', claim: { templateName: 'mine' } } },
      'spec.accelerator.claim.templateName is mine',
    ],
    // What nobody but the pods can read.
    [
      { endpoints: ['https://s3.example.org'] },
      { env: [{ name: 'AWS_ENDPOINT_URL', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }] },
      'spec.env[0].valueFrom hides what AWS_ENDPOINT_URL is',
    ],
    [
      { uris: ['s3://models/**'] },
      { engine: { runtime: 'vllm', args: ['--model', 'evil/model'] } },
      'spec.engine.args may name other models',
    ],
  ])('%j are not got around by %j', (bounds, spec, found) => {
    expect(refused(resolveClass(service(spec), known(gpu({ bounds }))))).toEqual([
      expect.stringMatching(new RegExp(`^${found.replace(/[.[\]/*?#\\]/g, '\\$&')}`)),
    ]);
  });

  test('let be what they do not judge', () => {
    const own = {
      accelerator: { profile: 'h100' },
      resources: { limits: { 'nvidia.com/gpu': 1, 'rdma/ib': 1, memory: '64Gi' } },
      env: [{ name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: 'a', key: 'b' } } }],
    };
    const bounds = { accelerators: ['h100', 'rdma/ib'], maxDevices: 1, uris: ['s3://models/**'] };
    expect(taken(resolveClass(service(own), known(gpu({ bounds })))).problem).toBeNull();
    const claim = { profile: 'h100', claim: { deviceClassName: 'shared', selectors: ['true'] } };
    const shared = known(gpu({ bounds: { accelerators: ['h100', 'shared'] } }));
    expect(taken(resolveClass(service({ accelerator: claim }), shared)).problem).toBeNull();
  });

  test('admit what is within all of them', () => {
    const bounds = {
      ...{
        accelerators: ['nvidia.com/gpu'],
        maxDevices: 2,
        maxTensor: 2,
        maxReplicas: 2,
        hosts: ['*.example.org'],
      },
      ...{ uris: ['s3://models/**'], images: ['example.org/**'], maxDeviceHoursPerMonth: 10 },
      endpoints: ['https://s3.example.org/'],
    };
    const spec = {
      accelerator: { profile: 'h100', devices: 2 },
      model: { uri: 's3://models/m/', s3: { endpoint: 'https://s3.example.org' } },
      ...{ replicas: 2, routing: { host: 'a.example.org' }, budget: { deviceHoursPerMonth: 10 } },
      engine: { image: 'example.org/llm/runtime:1' },
    };
    expect(taken(resolveClass(service(spec), known(gpu({ bounds })))).problem).toBeNull();
  });
});
