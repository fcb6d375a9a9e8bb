// Weights on a folder of the node: what a pod pulled, the next one starts from although S3 is gone. A real kubelet makes
// the folder, and a real admission refuses it where the namespace does not allow it.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { LlmServiceStatus } from '@llmservice/crds';
import { mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { eventually } from '../processes.js';
import { demoModel, upload } from './bucket.js';
import { apply, clusterPart, getJson, kubeconfig, kubectl } from './cluster.js';
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

interface PodOfNode {
  readonly initContainers: readonly { readonly image: string }[];
  readonly containers: readonly { readonly image: string }[];
}

/** What the operator was installed to allow: one folder. */
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

/** Where this process sees what the node calls so. */
const onHost = (path: string): string => join(dirname(kubeconfig), relative('/run/llmservice', path));

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
  await remove('cached', 'elsewhere', 'below', 'ahead');
  await kubectl(['delete', 'namespace', guarded, '--ignore-not-found', '--wait=false']);
});

test('the second pod of the node serves without S3', async () => {
  await apply(cached('cached', uri, folder));
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
  const service = cached('ahead', await upload('ahead', demoModel()), folder);
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

test('a pod sees its namespace’s part of the folder alone, and root keeps all above it', async () => {
  const pod = await podOf('ahead');
  const { spec } = await getJson<{ spec: PodOfNode }>(['pod', pod.metadata.name, '-n', namespace]);
  const { initContainers, containers } = spec;
  expect(initContainers[0]?.image).not.toBe(containers[0]?.image);
  const owners = await stat(onHost(join(folder, 'namespaces', namespace)));
  expect([owners.uid, owners.mode & 0o7777]).toEqual([65532, 0o700]);
  for (const above of [folder, join(folder, 'namespaces')]) {
    const { uid, mode } = await stat(onHost(above));
    expect([above, uid, mode & 0o022]).toEqual([above, 0, 0]);
  }
  const seen = await kubectl([
    ...['exec', '-n', namespace, pod.metadata.name, '-c', 'runtime', '--'],
    ...['ls', '/var/lib/llmservice/models'],
  ]);
  expect(seen.trim().split('\n').sort()).toEqual(['entries', 'locks']);
});

test('a link in the place of the namespace’s folder is not followed', async () => {
  const own = onHost(join(folder, 'namespaces', 'e2e-linked'));
  const target = await mkdtemp(onHost(join(dirname(folder), 'linked-')));
  await symlink(join(dirname(folder), basename(target)), own);
  const s3 = secret('s3', 'demo-secret-key') as { metadata: object };
  const service = cached('linked', uri, folder);
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  try {
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'e2e-linked', labels } });
    await apply(
      { ...s3, metadata: { ...s3.metadata, namespace: 'e2e-linked' } },
      { ...service, metadata: { ...service.metadata, namespace: 'e2e-linked' } },
    );
    const failed = await eventually(
      'the refusal',
      async () => {
        const args = ['llm', 'linked', '-n', 'e2e-linked'];
        const { status } = await getJson<{ status?: LlmServiceStatus }>(args);
        return status?.lastFailure ?? null;
      },
      180_000,
    );
    expect(failed.reason).toBe('WeightsCacheUnsafe');
    expect(failed.message).toContain('namespaces/e2e-linked');
    expect([(await stat(target)).uid, await readdir(target)]).toEqual([0, []]);
  } finally {
    await kubectl(['delete', 'namespace', 'e2e-linked', '--ignore-not-found', '--wait=false']);
    await rm(own);
    await rm(target, { recursive: true });
  }
});

test.each(['/etc/kubernetes', 'below'])(
  'the folder %s, which the operator does not allow, is refused, with what would allow it',
  async (path) => {
    const name = path === 'below' ? 'below' : 'elsewhere';
    const asked = path === 'below' ? `${folder}/link` : path;
    await apply(cached(name, uri, asked));
    const refused = await eventually('the refusal', async () => {
      const condition = await conditionOf(name, 'Scheduled');
      return condition?.reason === 'HostPathNotAllowed' ? condition : null;
    });
    expect(refused.message).toContain(`--allow-host-path=${asked}`);
    expect(await podsOf(name)).toEqual([]);
  },
);

test('a namespace that does not allow folders of the node is reported, with claims as a remedy', async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: guarded, labels } });
  const s3 = secret('s3', 'demo-secret-key') as { metadata: object };
  const service = cached('guarded', uri, folder);
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
