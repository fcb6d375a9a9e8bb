// Checkpoints on claims, from the manifest on: the API server knows the claim, and a pod what lies on it.

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { formatTerminationMessage, paths, type FailureReason } from '@llmservice/crds';
import { resources } from '../../operator/src/kube/resources.js';
import { eventually } from '../processes.js';
import { World } from './operator-world.js';

jest.setTimeout(120_000);

const { volumeClaims, deployments } = resources;
const rest = { resources: { limits: { memory: '1Gi' } } };
let world: World;

beforeAll(async () => {
  world = await World.start();
  world.startOperator();
}, 180_000);
afterAll(() => world.stop());

interface ClaimChange {
  readonly modes?: readonly string[];
  readonly phase?: 'Pending' | 'Bound' | 'Lost';
  readonly volumeMode?: string;
}

/** As the controllers leave it: no controller runs here. */
async function makeClaim(name: string, change: ClaimChange = {}): Promise<void> {
  const { modes = ['ReadOnlyMany'], phase = 'Bound', volumeMode = 'Filesystem' } = change;
  await world.create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default' },
    spec: {
      accessModes: modes,
      volumeMode,
      volumeName: `pv-${name}`,
      resources: { requests: { storage: '1Gi' } },
    },
  });
  await world.patch(
    volumeClaims,
    name,
    { status: { phase, ...(phase === 'Bound' ? { accessModes: modes } : {}) } },
    '/status',
  );
}

const serve = (name: string, claim: string, more: object = {}) =>
  world.createService(name, { model: { uri: `pvc://${claim}/qwen3/` }, ...rest, ...more });

test('a bound claim is mounted read-only, without disk for weights, and its pod says what lies there', async () => {
  await makeClaim('models');
  await serve('served', 'models');
  const { message } = await world.condition('served', 'ModelResolved', 'Unknown', 'JudgedByPods');
  expect(message).toContain('The claim models (ReadOnlyMany) is bound');
  const { spec } = await world.deployment('served');
  const template = JSON.stringify(spec?.template);
  expect(template).toContain('"persistentVolumeClaim":{"claimName":"models","readOnly":true}');
  expect(template).toContain(`"mountPath":"${paths.claims}/models"`);
  expect(template).not.toContain('ephemeral-storage');
  await world.makePod('served', 'served-1');
  await world.podServes('served-1');
  await world.condition('served', 'ModelResolved', 'True', 'ResolvedByPods');
  await world.condition('served', 'Fits', 'True', 'FitsByPods');
  await world.condition('served', 'Ready', 'True');
});

test.each<[FailureReason, string]>([
  ['ModelNotFound', 'ModelResolved'],
  ['KvCacheTooSmall', 'Fits'],
])('%s of a pod is that of %s, and holds the pods back', async (reason, type) => {
  const name = `pod-${type.toLowerCase()}`;
  await makeClaim(name);
  await serve(name, name);
  await world.makePod(name, `${name}-1`);
  await world.podFailed(`${name}-1`, formatTerminationMessage({ reason, message: 'as the pod has it' }));
  const { message } = await world.condition(name, type, 'False', reason);
  expect(message).toContain('as the pod has it');
  await world.condition(name, 'Ready', 'False', reason);
  await eventually('no replicas', async () => (await world.deployment(name)).spec?.replicas === 0);
});

test.each<[string, ClaimChange, FailureReason, string]>([
  ['lost', { phase: 'Lost' }, 'ClaimUnusable', 'the volume that it was bound to is gone'],
  ['block', { volumeMode: 'Block' }, 'ClaimUnusable', 'volumeMode Block'],
])('a claim that is %s is refused, with no Deployment ever', async (name, change, reason, part) => {
  await makeClaim(name, change);
  await serve(name, name);
  const { message } = await world.condition(name, 'ModelResolved', 'False', reason);
  expect(message).toContain(part);
  expect(await world.get(deployments, name)).toBeNull();
});

test('a claim that is being deleted is refused', async () => {
  await makeClaim('going');
  // As the controller protects one that is in use.
  await world.patch(volumeClaims, 'going', { metadata: { finalizers: ['kubernetes.io/pvc-protection'] } });
  await world.delete(volumeClaims, 'going');
  await serve('going', 'going');
  const { message } = await world.condition('going', 'ModelResolved', 'False', 'ClaimUnusable');
  expect(message).toContain('is being deleted');
});

test('a claim that is missing is reported until it is made', async () => {
  await serve('later', 'later');
  const { message } = await world.condition('later', 'ModelResolved', 'False', 'ClaimNotFound');
  expect(message).toContain('there is no PersistentVolumeClaim later in the namespace default');
  await makeClaim('later', { phase: 'Pending' });
  // Not to wait for the next look.
  await world.patch(resources.llmServices, 'later', {
    metadata: { annotations: { 'llmservice.dev/retry': 'made' } },
  });
  const found = await world.condition('later', 'ModelResolved', 'Unknown', 'JudgedByPods');
  expect(found.message).toContain('is not bound yet');
});

test('a claim for one node takes one pod', async () => {
  await makeClaim('single', { modes: ['ReadWriteOnce'] });
  await serve('single', 'single', { replicas: 2 });
  const { message } = await world.condition('single', 'Stalled', 'True', 'ClaimUnusable');
  expect(message).toContain('spec.replicas may come to 2 pods');
  expect(await world.get(deployments, 'single')).toBeNull();
  await world.patch(resources.llmServices, 'single', { spec: { replicas: 1 } });
  await world.deployment('single');
});
