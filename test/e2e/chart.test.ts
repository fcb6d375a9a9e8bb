// The service's chart on a real node: the Job that it waits with, and the release through helmfile.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { failureKinds } from '@llmservice/crds';
import { eventually, toolFolders } from '../processes.js';
import { demoModel, editConfig, s3Keys, upload } from './bucket.js';
import { apply, clusterPart, kubeconfig, kubectl, repository, s3InCluster } from './cluster.js';
import { paddedModel } from './padded-model.js';
import { conditionOf, makeNamespace, namespace, podsOf, restartsOf, statusOf, waitReady } from './service.js';

jest.setTimeout(240_000);

const operator = 'llmservice-operator';
const inSystem = ['-n', 'llmservice-system'];
/** Of the operator's release, as it is to be again for other tests: helmfile gives it values of its own. */
let before: number;
/** Of the operator's release, as its own values have it. */
let images: { operator: { repository: string; tag: string }; runtime: string };

beforeAll(async () => {
  await makeNamespace();
  const { output: status } = await run('helm', ['status', operator, ...inSystem, '-o', 'json']);
  before = (JSON.parse(status) as { version: number }).version;
  const { output } = await run('helm', ['get', 'values', operator, ...inSystem, '-o', 'json']);
  const values = JSON.parse(output) as {
    image: { repository: string; tag: string };
    runtimeImages: { cpu: string };
  };
  images = { operator: values.image, runtime: values.runtimeImages.cpu };
}, 600_000);

const releases = ['waits-accepted', 'waits-serving', 'refused', 'upgraded', 'demo'];
afterAll(async () => {
  for (const release of releases)
    await run('helm', ['uninstall', release, '-n', namespace, '--ignore-not-found', '--wait']);
  expect(await restoreOperator()).toMatchObject({ code: 0 });
});

function restoreOperator(): Promise<Outcome> {
  return run('helm', ['rollback', operator, String(before), ...inSystem, '--wait', '--timeout', '2m']);
}

interface Outcome {
  readonly code: number;
  /** Both streams of the program. */
  readonly output: string;
}

/** Runs a tool of the local cluster against it, and gives its outcome whatever it is. */
async function run(tool: 'helm' | 'helmfile', args: readonly string[], env: object = {}): Promise<Outcome> {
  const [helm = '', helmfile = ''] = toolFolders('helm', 'helmfile');
  const program = tool === 'helm' ? join(helm, 'helm') : join(helmfile, 'helmfile');
  const wholeArgs = tool === 'helm' ? args : ['--helm-binary', join(helm, 'helm'), ...args];
  try {
    const { stdout, stderr } = await promisify(execFile)(program, wholeArgs, {
      cwd: repository,
      env: { ...process.env, KUBECONFIG: kubeconfig, ...env },
    });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

function install(release: string, uri: string, wait: 'accepted' | 'serving'): Promise<Outcome> {
  const args = ['install', release, 'charts/llm-service', '-n', namespace, '--timeout', '3m'];
  return run('helm', [...args, ...settings(uri, wait)]);
}

/** As careful people upgrade. */
function upgrade(release: string, uri: string): Promise<Outcome> {
  const args = ['upgrade', '--atomic', '--timeout', '60s', release, 'charts/llm-service', '-n', namespace];
  return run('helm', [...args, ...settings(uri, 'accepted')]);
}

function settings(uri: string, wait: 'accepted' | 'serving'): string[] {
  const values = {
    wait,
    operatorImage: images.operator,
    model: { uri, name: 'demo', s3: { endpoint: s3InCluster, credentialsSecretRef: { name: 's3' } } },
    accelerator: { resourceName: 'none' },
    resources: { requests: { cpu: '50m' }, limits: { memory: '1Gi' } },
  };
  return Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
}

test('wait: accepted returns once the model is known and fits', async () => {
  const outcome = await install('waits-accepted', await upload('demo', demoModel()), 'accepted');
  expect(outcome).toMatchObject({ code: 0 });
  expect(await conditionOf('waits-accepted', 'ModelResolved')).toMatchObject({ status: 'True' });
  expect(await conditionOf('waits-accepted', 'Fits')).toMatchObject({ status: 'True' });
});

test('wait: serving returns once the service answers', async () => {
  const outcome = await install('waits-serving', await upload('demo', demoModel()), 'serving');
  expect(outcome).toMatchObject({ code: 0 });
  expect(await conditionOf('waits-serving', 'Ready')).toMatchObject({ status: 'True' });
});

test('an upgrade of the operator restarts no pod, though it would plan another image now', async () => {
  const [operator, inSystem] = [
    'llmservice-operator',
    ['-n', 'llmservice-system', '--wait', '--timeout', '2m'],
  ];
  const imagesOf = async (): Promise<string[]> => {
    const args = ['pods', '-n', namespace, '-l', 'llmservice.dev/service=waits-serving', '-o'];
    return (await kubectl(['get', ...args, 'jsonpath={.items[*].spec.containers[*].image}'])).split(' ');
  };
  const [first] = await podsOf('waits-serving');
  const image = 'runtimeImages.cpu=example.org/runtime:next';
  const change = ['--reuse-values', '--set', image, '--wait', '--timeout', '2m'];
  try {
    const upgraded = await run('helm', ['upgrade', operator, `charts/${operator}`, ...inSystem, ...change]);
    expect(upgraded).toMatchObject({ code: 0 });
    // Pods of one revision have one template, so that this one shows what the new operator has applied.
    await kubectl(['scale', 'llm/waits-serving', '-n', namespace, '--replicas=2']);
    await eventually('another pod', async () => (await imagesOf()).length === 2, 60_000);
    expect(await imagesOf()).toEqual([images.runtime, images.runtime]);
    await waitReady('waits-serving');
    const after = (await podsOf('waits-serving')).find(
      ({ metadata }) => metadata.uid === first?.metadata.uid,
    );
    expect(restartsOf([after!])).toBe(0);
  } finally {
    expect(await restoreOperator()).toMatchObject({ code: 0 });
  }
});

test('a model that cannot be served fails the release at once, with reason and remedy', async () => {
  const uri = await upload('chart-refused', editConfig(demoModel(), { model_type: 'mystery' }));
  const startedAt = Date.now();
  const { code, output } = await install('refused', uri, 'serving');
  expect(code).not.toBe(0);
  expect(output).toContain('UnsupportedArchitecture');
  expect(output).toContain(failureKinds.UnsupportedArchitecture.remedy);
  // Far below the 270 s that the hook waits for a service that may still come.
  expect(Date.now() - startedAt).toBeLessThan(120_000);
  expect(await podsOf('refused')).toEqual([]);
});

describe('helm upgrade --atomic', () => {
  const release = 'upgraded';
  const deployed = async (): Promise<number> => {
    const { output } = await run('helm', ['status', release, '-n', namespace, '-o', 'json']);
    const { version, info } = JSON.parse(output) as { version: number; info: { status: string } };
    expect(info.status).toBe('deployed');
    return version;
  };
  beforeAll(async () => {
    expect(await install(release, await upload('demo', demoModel()), 'serving')).toMatchObject({ code: 0 });
  });

  test('survives a load that takes longer than it waits', async () => {
    const uri = await upload('chart-padded', paddedModel(demoModel(), 768 * 1024 ** 2));
    const before = (await podsOf(release)).map(({ metadata }) => metadata.uid);
    const upgraded = upgrade(release, uri);
    // The load cannot end before Helm does.
    await eventually('the pull', async () => (await statusOf(release))?.loading?.phase === 'pull', 60_000);
    await clusterPart('stop', 's3');
    try {
      expect(await upgraded).toMatchObject({ code: 0 });
      expect(await conditionOf(release, 'Ready')).toMatchObject({ status: 'False' });
      expect(await conditionOf(release, 'Serving')).toMatchObject({ status: 'True' });
      expect((await podsOf(release)).map(({ metadata }) => metadata.uid)).toEqual(
        expect.arrayContaining(before),
      );
    } finally {
      await clusterPart('start', 's3');
    }
    await waitReady(release);
    expect(await deployed()).toBe(2);
  });

  test('goes back where the model can never be served, and no pod notices', async () => {
    const onlyPod = async (): Promise<string | null> => {
      const [pod, other] = await podsOf(release);
      return other === undefined ? (pod?.metadata.uid ?? null) : null;
    };
    const before = await eventually('the revision before it to be gone', onlyPod, 180_000);
    const uri = await upload('chart-refused', editConfig(demoModel(), { model_type: 'mystery' }));
    const { code, output } = await upgrade(release, uri);
    expect(code).not.toBe(0);
    expect(output).toContain('UnsupportedArchitecture');
    expect(await deployed()).toBe(4);
    await waitReady(release);
    expect(await onlyPod()).toBe(before);
  });
});

test('helmfile sync brings the local environment up, in a namespace of one’s own', async () => {
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'demo-s3', namespace, labels: { 'llmservice.dev/secret-for': 's3' } },
    stringData: { AWS_ACCESS_KEY_ID: s3Keys.accessKeyId, AWS_SECRET_ACCESS_KEY: s3Keys.secretAccessKey },
  });
  const args = ['--file', 'helmfile.d/llmservice.yaml.gotmpl', '--environment', 'local'];
  const tags = { OPERATOR_TAG: images.operator.tag, RUNTIME_TAG: images.runtime.split(':').at(-1) };
  const outcome = await run(
    'helmfile',
    [...args, '--state-values-set', `namespace=${namespace}`, 'sync'],
    tags,
  );
  expect(outcome).toMatchObject({ code: 0 });
  await waitReady('demo');
  expect(await kubectl(['get', 'llm', 'demo', '-n', namespace])).toMatch(/\sServing\s/);
});
