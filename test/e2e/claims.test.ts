// Models on a claim on a real node: a folder of the node as a volume, bound by the controller, mounted by the kubelet, read
// by the pod alone.

import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { eventually } from '../processes.js';
import type { Files } from '../builders/files.js';
import { demoModel } from './bucket.js';
import { apply, getJson, kubeconfig, kubectl } from './cluster.js';
import { call, chatBody, chatPath } from './gateway.js';
import {
  conditionOf,
  makeNamespace,
  namespace,
  podOf,
  inPod,
  remove,
  serviceOf,
  waitReady,
} from './service.js';

jest.setTimeout(240_000);
const host = 'on-claim.e2e.example';
const volume = 'e2e-models';
/** As this process and as the node see it. */
const folders = { here: join(dirname(kubeconfig), 'claimed-models'), node: '/run/llmservice/claimed-models' };

/** Readable by everybody, as the pod's user is none that this machine knows. */
async function place(folder: string, files: Files): Promise<void> {
  const path = join(folders.here, folder);
  await mkdir(path, { recursive: true });
  for (const each of [folders.here, path]) await chmod(each, 0o755);
  for (const [name, content] of Object.entries(files))
    await writeFile(join(path, name), content, { mode: 0o644 });
}

function onClaim(name: string, folder: string): object {
  const service = serviceOf(name, { uri: '', ...(name === 'claimed' ? { host } : {}) }) as { spec: object };
  return { ...service, spec: { ...service.spec, model: { uri: `pvc://models/${folder}/`, name: 'demo' } } };
}

beforeAll(async () => {
  await makeNamespace();
  await place('whole', demoModel());
  await place('partial', demoModel());
  await rm(join(folders.here, 'partial', 'config.json'));
  const shape = { accessModes: ['ReadOnlyMany'], storageClassName: '' };
  await apply(
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volume },
      spec: {
        ...shape,
        capacity: { storage: '1Gi' },
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path: folders.node, type: 'Directory' },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'models', namespace },
      spec: { ...shape, volumeName: volume, resources: { requests: { storage: '1Gi' } } },
    },
    onClaim('claimed', 'whole'),
    onClaim('unconfigured', 'partial'),
  );
});
afterAll(async () => {
  await remove('claimed', 'unconfigured');
  await kubectl(['delete', 'pvc', 'models', '-n', namespace, '--ignore-not-found']);
  await kubectl(['delete', 'pv', volume, '--ignore-not-found']);
  await rm(folders.here, { recursive: true, force: true });
});

test('a model is served from a claim, which its pod can only read', async () => {
  await waitReady('claimed');
  const claim = await getJson<{ status: object }>(['pvc', 'models', '-n', namespace]);
  expect(claim.status).toMatchObject({ phase: 'Bound' });
  expect(await conditionOf('claimed', 'ModelResolved')).toMatchObject({
    status: 'True',
    reason: 'ResolvedByPods',
  });
  const answer = await eventually('an answer', async () => {
    const given = await call(host, chatPath, chatBody('What is the capital of France?'));
    return given.status === 200 ? given : null;
  });
  expect(answer.body).toContain('Paris');
  const mounts = await inPod(
    await podOf('claimed'),
    `console.log((await import('node:fs')).readFileSync('/proc/mounts', 'utf8'))`,
  );
  expect(mounts).toMatch(/^\S+ \/var\/lib\/llmservice\/claims\/models \S+ ro[, ]/m);
});

test('a folder without a configuration is refused by a condition, until it is there and asked for again', async () => {
  const said = await eventually(
    'the reason',
    async () => {
      const condition = await conditionOf('unconfigured', 'ModelResolved');
      return condition?.status === 'False' ? condition : null;
    },
    60_000,
  );
  expect(said.reason).toBe('ModelNotFound');
  expect(said.message).toContain('pvc://models/partial/ has no config.json');
  expect(said.message).toContain('llmservice.dev/retry');
  expect(await conditionOf('unconfigured', 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ModelNotFound',
  });
  await place('partial', demoModel());
  await kubectl(['annotate', 'llm', 'unconfigured', '-n', namespace, 'llmservice.dev/retry=placed']);
  await waitReady('unconfigured');
});
