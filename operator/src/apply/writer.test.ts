import { describe, expect, test } from '@jest/globals';
import type { KubeClient } from '../kube/client.js';
import { resources } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';
import { ImageVolumesDroppedError, trialOf } from './image-volumes.js';
import { Writer } from './writer.js';

const owner = { namespace: 'tenant', name: 'demo', uid: 'uid-1' };

/** A writer, and what left it. @param stored what the API server makes of what is applied */
function writing(stored = (object: KubeObject) => object): { writer: Writer; sent: string[] } {
  const sent: string[] = [];
  const client = {
    guardedBy: () => client,
    find: () => Promise.resolve(null),
    apply: (object: KubeObject, { dryRun = false }: { dryRun?: boolean }) => {
      sent.push(`${dryRun ? 'try' : 'apply'} ${object.metadata.name}`);
      return Promise.resolve(stored(object));
    },
    delete: (object: KubeObject) => Promise.resolve(void sent.push(`delete ${object.metadata.name}`)),
  };
  return { writer: new Writer(client as unknown as KubeClient, () => true, 'test'), sent };
}

const child = (apiVersion: string, kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'tenant', ownerReferences: [{ uid: 'uid-1', controller: true }], ...more },
});

describe('a write', () => {
  test.each([
    ['v1', 'Service', 'demo'],
    ['v1', 'ConfigMap', 'demo-engine-0123456789'],
    ['apps/v1', 'ControllerRevision', 'demo-0123456789'],
    ['batch/v1', 'Job', 'demo-pull-0123456789'],
    ['discovery.k8s.io/v1', 'EndpointSlice', 'demo-activator'],
    ['gateway.networking.k8s.io/v1', 'HTTPRoute', 'demo'],
  ])('of a child (%s %s) leaves', async (apiVersion, kind, name) => {
    const { writer, sent } = writing();
    await writer.apply(child(apiVersion, kind, name), null, owner);
    expect(sent).toEqual([`apply ${name}`]);
  });

  test.each<[string, KubeObject]>([
    ['another kind', child('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'demo')],
    ['a kind that the operator reads', child('v1', 'Secret', 'demo')],
    ['the service itself', child('llmservice.dev/v1alpha1', 'LlmService', 'demo')],
    ['another version of a kind', child('apps/v1beta1', 'Deployment', 'demo')],
    ['another namespace', child('v1', 'Service', 'demo', { namespace: 'kube-system' })],
    ['no namespace', child('v1', 'Service', 'demo', { namespace: undefined })],
    ['another name', child('v1', 'Service', 'other')],
    ['another config', child('v1', 'ConfigMap', 'other-engine-0123456789')],
    ['a config without hash', child('v1', 'ConfigMap', 'demo-engine-')],
    ['a name that ends in a hash', child('v1', 'Service', 'demo-0123456789')],
    [
      'another owner',
      child('v1', 'Service', 'demo', { ownerReferences: [{ uid: 'uid-2', controller: true }] }),
    ],
    [
      'an owner that does not control',
      child('v1', 'Service', 'demo', { ownerReferences: [{ uid: 'uid-1' }] }),
    ],
  ])('of %s is refused before anything leaves', async (_, object) => {
    const { writer, sent } = writing();
    await expect(writer.apply(object, null, owner)).rejects.toThrow('is not written for tenant/demo');
    expect(sent).toEqual([]);
  });
});

test('a Service that the controller of LeaderWorkerSets made for the group is left as it is', async () => {
  const { writer, sent } = writing();
  const planned = child('v1', 'Service', 'demo-group');
  const made = (name: string): KubeObject =>
    child('v1', 'Service', 'demo-group', {
      ownerReferences: [{ kind: 'LeaderWorkerSet', name, uid: 'uid-2', controller: true }],
    });
  expect(await writer.apply(planned, made('demo-group'), owner)).toEqual(made('demo-group'));
  await expect(writer.apply(planned, made('other-group'), owner)).rejects.toThrow('exists already');
  expect(sent).toEqual([]);
});

test('what is not the service’s is not deleted', async () => {
  const { writer, sent } = writing();
  await writer.delete(child('batch/v1', 'Job', 'mine'), owner);
  await writer.delete(child('batch/v1', 'Job', 'foreign', { ownerReferences: [] }), owner);
  await writer.delete(child('batch/v1', 'Job', 'elsewhere', { namespace: 'kube-system' }), owner);
  expect(sent).toEqual(['delete mine']);
});

describe('a Deployment whose pods mount an image', () => {
  const volumes = (...list: object[]): object => ({ spec: { template: { spec: { volumes: list } } } });
  const image = { name: 'checkpoint', image: { reference: 'models/qwen@sha256:ab' } };
  const deployment = (...list: object[]): KubeObject => ({
    ...child('apps/v1', 'Deployment', 'demo'),
    ...volumes(...list),
  });

  test('is tried first, and applied where the API server keeps the volume', async () => {
    const { writer, sent } = writing();
    await writer.apply(deployment(image), null, owner);
    expect(sent).toEqual(['try demo', 'apply demo']);
  });

  test('is not applied where the API server leaves the volume out', async () => {
    const { writer, sent } = writing(() => deployment());
    await expect(writer.apply(deployment(image), null, owner)).rejects.toThrow(ImageVolumesDroppedError);
    expect(sent).toEqual(['try demo']);
  });

  test('is applied at once where it has such a volume already', async () => {
    const { writer, sent } = writing();
    await writer.apply(deployment(image, { name: 'tmp', emptyDir: {} }), deployment(image), owner);
    expect(sent).toEqual(['apply demo']);
  });

  test('is tried as a Deployment where groups of pods have it, which are stored as they are given', async () => {
    const { apiVersion, kind } = resources.leaderWorkerSets;
    const metadata = { labels: { app: 'demo' } };
    const workerTemplate = { metadata, spec: { volumes: [image] } };
    const groups = {
      ...child(apiVersion, kind, 'demo-group'),
      spec: { leaderWorkerTemplate: { workerTemplate } },
    };
    const { writer, sent } = writing((object) => (object.kind === kind ? object : deployment()));
    await expect(writer.apply(groups, null, owner)).rejects.toThrow(ImageVolumesDroppedError);
    expect(sent).toEqual(['try demo-group.trial']);
    expect(trialOf(groups)).toMatchObject({
      kind: 'Deployment',
      metadata: { namespace: 'tenant' },
      spec: { replicas: 0, selector: { matchLabels: metadata.labels }, template: workerTemplate },
    });
    await writer.apply(groups, groups, owner);
    expect(sent).toEqual(['try demo-group.trial', 'apply demo-group']);
  });
});
