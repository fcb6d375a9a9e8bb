// What is stored in a ControllerRevision is not believed: it is data for objects of the service's own, or nothing.

import { describe, expect, test } from '@jest/globals';
import { annotations } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { contentHash } from '../../domain/content-hash.js';
import { strangeness } from '../identity/child-identity.js';
import { planTemplate } from '../pods/planned-template.js';
import { planRevision, readRevisions, type StoredRevisions } from './revision.js';

const service = wantedService();
const size = { model: null, weightBytes: 1, fileBytes: 1, fingerprint: 'print' };
const template = planTemplate(service, {
  image: 'runtime:1',
  pullImage: null,
  operatorImage: null,
  size,
  memoryPlan: null,
  pins: null,
});
const planned = planRevision(service, 'print', template, []);

/** As the API server gives it back: keys in another order, and what is undefined left out. */
const stored = (change: object = {}): KubeObject => {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort()
        .map(([key, field]) => [key, sorted(field)]),
    );
  };
  const object = {
    ...planned.object,
    ...change,
    metadata: { ...planned.object.metadata, uid: 'revision-1' },
  };
  return sorted(JSON.parse(JSON.stringify(object))) as KubeObject;
};
const read = (object: KubeObject): StoredRevisions =>
  readRevisions([object], service, { allowedHostPaths: ['/cache'], operatorImage: 'operator:1' });
const pod = template.pod as unknown as {
  metadata: { annotations: Record<string, string> };
  spec: Record<string, unknown>;
};

/** Consistent in itself, as whoever knows the code can make it. */
function forged(spec: object, labels: object = {}): KubeObject {
  const notes = Object.fromEntries(
    Object.entries(pod.metadata.annotations).filter(([name]) => name !== annotations.revision),
  );
  const { metadata } = template.pod as unknown as { metadata: { labels: object } };
  const bare = {
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels }, annotations: notes },
    spec: { ...pod.spec, ...spec },
  };
  const revision = contentHash(bare);
  const whole = {
    ...bare,
    metadata: { ...bare.metadata, annotations: { ...notes, [annotations.revision]: revision } },
  };
  return planRevision(service, 'print', { ...template, pod: whole as never, revision }, []).object;
}

test('a stored revision is read as it was planned, and planning it again finds it', () => {
  const { history, unreadable } = read(stored());
  expect(unreadable).toEqual([]);
  expect(JSON.parse(JSON.stringify(history))).toEqual(JSON.parse(JSON.stringify([planned])));
  expect(planRevision(service, 'print', template, history)).toBe(history[0]);
});

test('what older operators stored, the whole config map, is the same revision', () => {
  const { history } = read(stored({ data: { configMap: template.configMap, template: template.pod } }));
  expect(JSON.parse(JSON.stringify(history))).toEqual(JSON.parse(JSON.stringify([planned])));
});

test.each([
  [
    'a role for everybody',
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'x' } },
  ],
  [
    'a config of another namespace',
    { ...template.configMap, metadata: { name: 'x', namespace: 'kube-system' } },
  ],
])('%s in place of the config is no object to apply', (_, object) => {
  const { history, unreadable } = read(stored({ data: { configMap: object, template: template.pod } }));
  expect([history.length, unreadable.length]).toEqual([
    object.kind === 'ConfigMap' ? 1 : 0,
    object.kind === 'ConfigMap' ? 0 : 1,
  ]);
  for (const revision of history) {
    for (const made of [revision.template.configMap, revision.object])
      expect(strangeness(made, service)).toBeNull();
  }
});

const data = (change: object): object => ({
  data: { config: (planned.object['data'] as { config: string }).config, template: template.pod, ...change },
});
let deep: object = {};
for (let i = 0; i < 5_000; i += 1) deep = { deep };

test.each<[string, KubeObject]>([
  ['no data', stored({ data: null })],
  ['another config', stored(data({ config: '{}' }))],
  ['a config that is no JSON', stored(data({ config: '{' }))],
  ['a deep config', stored(data({ config: '['.repeat(100_000) }))],
  ['no template', stored(data({ template: 'x' }))],
  [
    'an edited template',
    stored(data({ template: { ...template.pod, spec: { ...pod.spec, enableServiceLinks: true } } })),
  ],
  ['a deep template', { ...planned.object, ...data({ template: { ...template.pod, deep } }) }],
  ['a number that nothing follows', stored({ revision: Number.MAX_SAFE_INTEGER })],
  [
    'a name of another',
    { ...stored(), metadata: { ...stored().metadata, name: `${service.name}-0123456789` } },
  ],
])('%s is as good as absent, and marked for removal', (_, object) => {
  const { history, unreadable } = read(object);
  expect([history, unreadable]).toEqual([[], [object]]);
});

describe('a template that is consistent in itself', () => {
  test.each([
    ['of another service', {}, { 'llmservice.dev/service': 'other' }],
    ['in the network of its node', { hostNetwork: true }, {}],
    ['on a node of its choice', { nodeName: 'control-plane' }, {}],
    ['with a token of its account', { automountServiceAccountToken: true }, {}],
    ['with a token as a volume', { volumes: [{ name: 'token', projected: { sources: [] } }] }, {}],
    ['with a folder that is not allowed', { volumes: [{ name: 'a', hostPath: { path: '/etc' } }] }, {}],
    ['with a way out of one that is', { volumes: [{ name: 'a', hostPath: { path: '/cache/../etc' } }] }, {}],
    [
      'with a privileged container',
      { initContainers: [{ name: 'a', securityContext: { privileged: true } }] },
      {},
    ],
  ])('%s is not ours', (_, spec, labels) => {
    expect(read(forged(spec, labels)).history).toEqual([]);
  });

  test('is ours with a folder that is allowed', () => {
    expect(read(forged({ volumes: [{ name: 'a', hostPath: { path: '/cache' } }] })).history).toHaveLength(1);
  });
});

test('what belongs to another service of the name is neither read nor removed', () => {
  const foreign = {
    ...stored(),
    metadata: { ...stored().metadata, ownerReferences: [{ uid: 'before', controller: true }] },
  };
  expect(read(foreign)).toEqual({ history: [], unreadable: [] });
});
