import { describe, expect, test } from '@jest/globals';
import type { KubeClient } from '../kube/client.js';
import type { KubeObject } from '../kube/types.js';
import { Writer } from './writer.js';

const owner = { namespace: 'tenant', name: 'demo', uid: 'uid-1' };

/** A writer, and what left it. */
function writing(): { writer: Writer; sent: string[] } {
  const sent: string[] = [];
  const client = {
    guardedBy: () => client,
    find: () => Promise.resolve(null),
    apply: (object: KubeObject) => Promise.resolve((sent.push(`apply ${object.metadata.name}`), object)),
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

test('what is not the service’s is not deleted', async () => {
  const { writer, sent } = writing();
  await writer.delete(child('batch/v1', 'Job', 'mine'), owner);
  await writer.delete(child('batch/v1', 'Job', 'foreign', { ownerReferences: [] }), owner);
  await writer.delete(child('batch/v1', 'Job', 'elsewhere', { namespace: 'kube-system' }), owner);
  expect(sent).toEqual(['delete mine']);
});
