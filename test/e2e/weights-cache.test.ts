// Weights on a folder of the node: what a pod pulled, the next one starts from although S3 is gone. A real kubelet makes
// the folder, and a real admission refuses it where the namespace does not allow it.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { LlmServiceStatus } from '@llmservice/crds';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, clusterPart, getJson, kubectl } from './cluster.js';
import { call, chatBody, chatPath } from './gateway.js';
import {
  conditionOf,
  fromPod,
  makeNamespace,
  namespace,
  podOf,
  podsOf,
  remove,
  secret,
  serviceOf,
  waitReady,
  type PodState,
} from './service.js';

jest.setTimeout(360_000);
const host = 'cached.e2e.example';
const guarded = 'e2e-guarded';

interface Operator {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          { readonly env: readonly { readonly name: string; readonly value?: string }[] },
        ];
      };
    };
  };
}

/** What the operator was installed to allow. */
async function allowedFolder(): Promise<string> {
  const operator = await getJson<Operator>(['deployment', 'llmservice-operator', '-n', 'llmservice-system']);
  const [container] = operator.spec.template.spec.containers;
  return container.env.find(({ name }) => name === 'ALLOW_HOST_PATH')?.value ?? '';
}

function cached(name: string, uri: string, path: string): { metadata: object; spec: { model: object } } {
  const service = serviceOf(name, { uri, host }) as { metadata: object; spec: { model: object } };
  const model = { ...service.spec.model, cache: { kind: 'hostPath', path, maxSize: '1Gi' } };
  return { ...service, spec: { ...service.spec, model } };
}

const metric = async (pod: PodState, name: string): Promise<number> =>
  Number(new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(await fromPod(pod, '/metrics'))?.[1]);

let folder: string;
let uri: string;
beforeAll(async () => {
  await makeNamespace();
  folder = await allowedFolder();
  uri = await upload('demo', demoModel());
});
afterAll(async () => {
  await remove('cached', 'elsewhere', 'ahead');
  await kubectl(['delete', 'namespace', guarded, '--ignore-not-found', '--wait=false']);
});

test('the second pod of the node serves without S3', async () => {
  await apply(cached('cached', uri, `${folder}/shared`));
  await waitReady('cached', 240_000);
  const first = await podOf('cached');
  expect(await metric(first, 'llmservice_weights_cache_misses_total')).toBe(1);
  await kubectl([
    ...['exec', '-n', namespace, first.metadata.name, '--', 'sh', '-c'],
    'until ls /var/lib/llmservice/models/entries/*/.llmservice-manifest.json; do sleep 0.2; done',
  ]);

  await clusterPart('stop', 's3');
  try {
    await kubectl(['delete', 'pod', '-n', namespace, first.metadata.name, '--wait=false']);
    const second = await eventually(
      'another pod',
      async () => (await podsOf('cached')).find(({ metadata }) => metadata.uid !== first.metadata.uid),
      60_000,
    );
    const waiting = ['wait', '--for=condition=Ready', 'pod', second.metadata.name, '-n', namespace];
    await kubectl([...waiting, '--timeout=120s']);
    expect(await metric(second, 'llmservice_weights_cache_hits_total')).toBe(1);
    expect(await metric(second, 'llmservice_weights_cache_misses_total')).toBe(0);
    await eventually(
      'an answer',
      async () => (await call(host, chatPath, chatBody('What is the capital of France?'))).status === 200,
      60_000,
    );
  } finally {
    await clusterPart('start', 's3');
  }
});

test('a Job pulls ahead on the node, and the first pod serves without S3', async () => {
  const service = cached('ahead', await upload('ahead', demoModel()), `${folder}/ahead`);
  const { cache } = service.spec.model as { cache: object };
  const model = { ...service.spec.model, cache: { ...cache, prePull: true } };
  const spec = { ...service.spec, routing: {}, model };
  await apply({ ...service, spec: { ...spec, stop: true } });
  await eventually(
    'the Job',
    async () => (await conditionOf('ahead', 'ModelResolved'))?.message.includes('1 of 1 Jobs are done'),
    180_000,
  );
  expect(await podsOf('ahead')).toEqual([]);
  await clusterPart('stop', 's3');
  try {
    await apply({ ...service, spec });
    const pod = await podOf('ahead');
    await kubectl([
      'wait',
      '--for=condition=Ready',
      'pod',
      pod.metadata.name,
      '-n',
      namespace,
      '--timeout=120s',
    ]);
    expect(await metric(pod, 'llmservice_weights_cache_hits_total')).toBe(1);
  } finally {
    await clusterPart('start', 's3');
  }
});

test('a folder that the operator does not allow is refused, with what would allow it', async () => {
  await apply(cached('elsewhere', uri, '/etc/kubernetes'));
  const refused = await eventually('the refusal', async () => {
    const condition = await conditionOf('elsewhere', 'Scheduled');
    return condition?.reason === 'HostPathNotAllowed' ? condition : null;
  });
  expect(refused.message).toContain('--allow-host-path=/etc/kubernetes');
  expect(await podsOf('elsewhere')).toEqual([]);
});

test('a namespace that does not allow folders of the node is told so, and of claims', async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: guarded, labels } });
  const s3 = secret('s3', 'demo-secret-key') as { metadata: object };
  const service = cached('guarded', uri, `${folder}/shared`);
  await apply(
    { ...s3, metadata: { ...s3.metadata, namespace: guarded } },
    { ...service, metadata: { ...service.metadata, namespace: guarded } },
  );
  const refused = await eventually(
    'the refusal',
    async () => {
      const { status } = await getJson<{ status?: LlmServiceStatus }>(['llm', 'guarded', '-n', guarded]);
      const condition = status?.conditions?.find(({ type }) => type === 'Scheduled');
      return condition?.reason === 'PodSecurityRefused' ? condition : null;
    },
    60_000,
  );
  expect(refused.message).toContain('set spec.model.cache.kind to pvc');
});
