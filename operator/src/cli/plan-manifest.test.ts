import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ggufFile, llamaGguf } from '../../../checkpoint/src/formats/gguf.fixture.js';
import { folder, PreflightWorld } from '../preflight/preflight.fixture.js';
import { object } from '../resource/wanted-service.fixture.js';
import { exitCodeOf } from './exit-codes.js';
import { planManifest, type PlanSettings } from './plan-manifest.js';
import { describePlan } from './report-text.js';

let world: PreflightWorld;
beforeEach(() => {
  world = new PreflightWorld();
  world.start();
});
afterEach(() => world.stop());

/** The files of the model stand for those of its adapters too. */
async function planned(
  memory: string | undefined,
  preflight: PlanSettings['preflight'] = world.preflight,
  { classes = [], ...spec }: { classes?: PlanSettings['classes']; [field: string]: unknown } = {},
  gateway: PlanSettings['gateway'] = null,
) {
  world.endpoints.files.set('demo', folder({ 'm.gguf': ggufFile(llamaGguf()) }));
  const manifest = object({
    model: { uri: 's3://models/m/' },
    adapters: [{ name: 'legal', uri: 's3://models/legal/' }],
    ...spec,
    ...(memory === undefined ? {} : { resources: { limits: { memory } } }),
  });
  const settings = {
    ...{ preflight, places: world.endpoints, cluster: null, classes, image: null, gateway },
    ...{ pricePerDeviceHour: null, meanTokens: 2048 },
  };
  const report = await planManifest({ source: 'a.yaml', object: manifest }, settings);
  const text = describePlan([report], [], { others: [], problems: [] }, { objects: false });
  return { report, text };
}

const namesOf = ({ objects }: Awaited<ReturnType<typeof planned>>['report']): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

/** A preflight whose adapters' bucket may not be read. */
const denied: PlanSettings['preflight'] = {
  resolve: async (key, service) => {
    const result = await world.preflight.resolve(key, service);
    if (result.state !== 'resolved') return result;
    const failure = { reason: 'S3AccessDenied', message: 'the bucket may not be read' } as const;
    const refusedAdapters = result.checkpoint.refusedAdapters?.map((each) => ({ ...each, failure })) ?? [];
    return { ...result, checkpoint: { ...result.checkpoint, refusedAdapters } };
  },
};

test('an adapter that is refused is listed with its reason, and hides neither that the model fits nor its memory', async () => {
  const { report, text } = await planned('1Gi');
  expect(report).toMatchObject({
    verdict: 'refused',
    memoryPlan: { rows: expect.any(Array) },
    refusedAdapters: [{ name: 'legal', uri: 's3://models/legal/', reason: 'CheckpointIncomplete' }],
  });
  expect(exitCodeOf([report.verdict])).toBe(1);
  expect(text).toContain('ns/demo: fits, without 1 refused adapter (a.yaml)');
  expect(text).toContain('adapter legal, s3://models/legal/, is refused: there is no adapter_config.json');
  expect(text).toMatch(/ {4}weights /);
  const list = report.objects.find(({ metadata }) => metadata.name === 'demo-adapters');
  expect(list).toMatchObject({ data: { 'adapters.json': '[]\n' } });
});

test('a model that does not fit is said not to, whatever becomes of its adapters', async () => {
  const { report, text } = await planned('16Mi');
  expect(report).toMatchObject({ verdict: 'refused', memoryPlan: null });
  expect(text).toContain('ns/demo: does not fit or is not supported');
  expect(text).toContain('adapter legal, s3://models/legal/, is refused');
});

test.each([
  ['1Gi', 'unreadable', 3, 'fits', 'fits, without 1 refused adapter'],
  ['16Mi', 'refused', 1, 'refused', 'does not fit or is not supported'],
  [undefined, 'unreadable', 3, 'unmeasured', 'may fit, without 1 refused adapter'],
])(
  'an adapter that cannot be read decides only beside a model that may be served: %s, %s',
  async (memory, verdict, exitCode, modelVerdict, outcome) => {
    const { report, text } = await planned(memory, denied);
    expect(report).toMatchObject({ verdict, modelVerdict, refusedAdapters: [{ reason: 'S3AccessDenied' }] });
    expect(exitCodeOf([report.verdict])).toBe(exitCode);
    expect(text).toContain(`ns/demo: ${outcome} (a.yaml)`);
  },
);

test('a model of which it is not known whether it fits may fit, without an adapter that is refused', async () => {
  const { report, text } = await planned(undefined);
  expect(report).toMatchObject({ verdict: 'refused', modelVerdict: 'unmeasured', memoryPlan: null });
  expect(text).toContain('ns/demo: may fit, without 1 refused adapter (a.yaml)');
});

test('a service is planned with its class of the same manifests', async () => {
  const defaults = { nodeSelector: { pool: 'a' } };
  const small = {
    source: 'b.yaml',
    object: {
      ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmServiceClass', metadata: { name: 'small' } },
      spec: { defaults, bounds: { uris: ['s3://models/m/', 's3://models/legal/'] } },
    },
  };
  const { report, text } = await planned('1Gi', world.preflight, { className: 'small', classes: [small] });
  expect(text).toContain('class        Generation 0 of LlmServiceClass small gives nodeSelector.');
  expect(report.objects.find(({ kind }) => kind === 'Deployment')).toMatchObject({
    spec: { template: { spec: { nodeSelector: { pool: 'a' } } } },
  });
  const narrow = { ...small, object: { ...small.object, spec: { bounds: { uris: ['s3://other/**'] } } } };
  const refused = await planned('1Gi', world.preflight, { className: 'small', classes: [narrow] });
  expect(refused.report).toMatchObject({
    verdict: 'invalid',
    message: expect.stringMatching(/^spec\.model\.uri/),
  });
});

test('a class that is in no manifest is asked for', async () => {
  const { report } = await planned('1Gi', world.preflight, { className: 'small' });
  expect(report).toMatchObject({ verdict: 'unreadable', message: expect.stringContaining('--diff') });
});

test('of a replica on several nodes it says what each pod has, and plans its LeaderWorkerSet', async () => {
  world.endpoints.files.set('demo', folder({ 'm.gguf': ggufFile(llamaGguf()) }));
  const manifest = object({
    ...{ model: { uri: 's3://models/m/' }, accelerator: { devices: 2 }, parallelism: { nodes: 2 } },
    resources: { limits: { memory: '1Gi' } },
  });
  const report = await planManifest(
    { source: 'a.yaml', object: manifest },
    {
      ...{
        preflight: world.preflight,
        places: world.endpoints,
        cluster: null,
        classes: [],
        image: null,
        gateway: null,
      },
      ...{ pricePerDeviceHour: null, meanTokens: 2048 },
    },
  );
  expect(describePlan([report], [], { others: [], problems: [] }, { objects: false })).toMatch(
    /accelerator {2}CPU, 2 ranks, .* GiB a pod, by 2 pods \(nodes\) of a replica with 1 rank each/,
  );
  expect(report.objects.map(({ kind }) => kind)).toContain('LeaderWorkerSet');
});

test.each([
  [{ provider: 'auto' }, []],
  [{ provider: 'hpa' }, ['HorizontalPodAutoscaler demo']],
  [{ provider: 'keda' }, ['ScaledObject demo']],
])('an autoscaler is among the objects where the spec says which: %j', async (scaling, expected) => {
  const { report } = await planned('1Gi', world.preflight, { scaling: { ...scaling, maxReplicas: 3 } });
  expect(namesOf(report).filter((each) => /Autoscaler|ScaledObject/.test(each))).toEqual(expected);
});

test('so are an InferencePool, its picker and the picker’s rights, where a gateway carries the route', async () => {
  const gateway = { namespace: 'gateways', name: 'public' };
  const routing = { host: 'demo.example.org', backend: 'inferencePool' };
  const { report } = await planned('1Gi', world.preflight, { routing }, gateway);
  expect(namesOf(report).filter((each) => /Pool|picker|HTTPRoute/.test(each))).toEqual([
    ...['InferencePool demo', 'ServiceAccount demo-picker', 'Role demo-picker', 'RoleBinding demo-picker'],
    ...['Deployment demo-picker', 'Service demo-picker', 'HTTPRoute demo'],
  ]);
  const plain = await planned('1Gi', world.preflight, { routing: { host: 'demo.example.org' } }, gateway);
  expect(namesOf(plain.report).join()).not.toMatch(/Pool|picker/);
});
