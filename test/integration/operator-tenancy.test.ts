// One namespace among others: an operator that may nothing outside of it, quotas, policies, and deletion when all else
// is gone. The API server, the controllers and the scheduler are real, the nodes are played.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { KubeClient } from '../../operator/src/kube/client.js';
import { collectionPath, resources, type Resource } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { llamaCheckpoint } from '../builders/checkpoint.js';
import { llmService } from '../builders/llm-service.js';
import { eventually } from '../processes.js';
import { FakeNodes } from './fake-nodes.js';
import { grantOperatorRole } from './operator-role.js';
import { World } from './operator-world.js';

jest.setTimeout(180_000);

let world: World;
let nodes: FakeNodes;
/** What the operator of `default` asked the API server for. */
const asked: string[] = [];
const image = 'example.org/runtime:1';
const capabilities = { images: { cpu: image, cuda: null, hip: image } };
const { llmServices, networkPolicies, pods, deployments, services, configMaps, controllerRevisions } =
  resources;

/** The first time on a machine kwok is compiled. */
beforeAll(async () => {
  world = await World.start(true);
  world.s3.put('models', 'llama', llamaCheckpoint());
  nodes = FakeNodes.start(world.api, [
    'garbage-collector-controller',
    'namespace-controller',
    'resourcequota-controller',
  ]);
  await nodes.add('node', 'pool', 8);
  const client = new KubeClient(world.api.kubeConfig('operator'), (_, path) => asked.push(path));
  world.startOperator(
    // Long enough for a surge that waits to be seen.
    { watchNamespace: 'default', capabilities, timing: { unschedulableMs: 10_000 } },
    client,
  );
}, 900_000);

afterAll(async () => {
  await nodes.stop();
  await world.stop();
});

const spec = (more: object = {}): Parameters<typeof llmService>[1] => ({
  model: world.model('models/llama/'),
  accelerator: { resourceName: 'amd.com/gpu', devices: 1, memoryPerDevice: '8Gi' },
  ...more,
});
const edit = (name: string, change: object) => world.patch(llmServices, name, { spec: change });
/** Which groups there are, everybody may ask. */
const isDiscovery = (path: string): boolean => /^\/apis\/[^/]+$/.test(path);
const outside = () => asked.filter((path) => !path.includes('/namespaces/default/') && !isDiscovery(path));

/** Where the cluster's own public addresses would be listed; the answer is a refusal. */
const ownAddresses = ['/apis/networking.k8s.io/v1/servicecidrs', '/api/v1/nodes'];

describe('an operator that may nothing outside of its namespace', () => {
  test('makes a service Ready, and asks for nothing else', async () => {
    await world.createService('inside', spec());
    await world.condition('inside', 'Ready', 'True');
    expect(new Set(outside())).toEqual(new Set(ownAddresses));
  });

  test('rolls out without reading the nodes', async () => {
    await edit('inside', { engine: { maxNumSeqs: 5 } });
    await eventually('the new generation', async () => {
      const { conditions } = await world.status('inside');
      const ready = conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && ready.observedGeneration === 2;
    });
    expect(new Set(outside())).toEqual(new Set([...ownAddresses, '/api/v1/pods']));
  });

  test('leaves the services of other namespaces alone', async () => {
    await world.makeNamespace('foreign');
    await world.create(llmService('elsewhere', spec(), { namespace: 'foreign' }));
    await world.createService('later', spec());
    await world.condition('later', 'Ready', 'True');
    const path = `${collectionPath(llmServices, 'foreign')}/elsewhere`;
    expect((await world.request('GET', path))['status']).toBeUndefined();
  });
});

test('a class, which belongs to the cluster, is said not to be readable', async () => {
  await world.createService('classed', spec({ className: 'gpu' }));
  const { message } = await world.condition('classed', 'ClassResolved', 'False', 'ClassNotReadable');
  expect(message).toContain('ClusterRole');
  expect(outside()).toContain(collectionPath(resources.llmServiceClasses, null));
});

describe('a NetworkPolicy', () => {
  const from = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'gateways' } } }];

  test('lets in whom the spec names, and the operator', async () => {
    await world.createService('walled', spec({ networkPolicy: { from } }));
    const policy = await eventually('the policy', () => world.get(networkPolicies, 'walled'));
    expect(policy).toMatchObject({
      spec: {
        podSelector: { matchLabels: { 'llmservice.dev/service': 'walled' } },
        policyTypes: ['Ingress'],
        ingress: [
          {
            from: [
              from[0],
              {
                namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
                podSelector: { matchExpressions: [{ values: ['llmservice-operator'] }] },
              },
            ],
            ports: [{ port: 8080 }],
          },
        ],
      },
    });
    await world.condition('walled', 'Ready', 'True');
  });

  test('restarts nothing when it changes, and goes with the field', async () => {
    const before = (await world.deployment('walled')).spec?.template;
    await edit('walled', { networkPolicy: { from: [{ podSelector: {} }] } });
    await eventually('the change', async () =>
      JSON.stringify(await world.get(networkPolicies, 'walled')).includes('"podSelector":{}'),
    );
    await edit('walled', { networkPolicy: null });
    await eventually('no policy', async () => (await world.get(networkPolicies, 'walled')) === null);
    expect((await world.deployment('walled')).spec?.template).toEqual(before);
  });

  test('that Kubernetes refuses is reported with its words', async () => {
    await edit('walled', { networkPolicy: { from: [{ ipBlock: { cidr: 'nowhere' } }] } });
    const { message } = await world.condition('walled', 'Scheduled', 'False', 'InvalidSpec');
    expect(message).toContain('cidr');
    await edit('walled', { networkPolicy: null });
    await world.condition('walled', 'Ready', 'True');
  });
});

describe('a ResourceQuota', () => {
  const setQuota = async (devices: number): Promise<void> => {
    const path = '/api/v1/namespaces/default/resourcequotas';
    const hard = { 'requests.amd.com/gpu': String(devices) };
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'gpus' }, spec: { hard } };
    await world.request('POST', path, quota);
    await eventually('the quota counts', async () => {
      const { status } = await world.request<{ status?: { hard?: object; used?: object } }>(
        'GET',
        `${path}/gpus`,
      );
      return JSON.stringify(status?.hard) === JSON.stringify(hard) && status?.used !== undefined;
    });
  };

  test('without room for a pod is named, with what is asked for and used', async () => {
    for (const name of ['inside', 'later', 'walled']) await world.delete(llmServices, name);
    await eventually('no pods', async () => (await world.list(pods, '')).length === 0);
    await setQuota(1);
    await world.createService('wide', spec({ replicas: 2 }));
    const { message } = await world.condition('wide', 'Scheduled', 'False', 'QuotaExceeded');
    expect(message).toMatch(
      /^ResourceQuota gpus .* asks for requests\.amd\.com\/gpu=1; used are requests\.amd\.com\/gpu=1 of /,
    );
    await world.condition('wide', 'Serving', 'True');
    await edit('wide', { replicas: 1 });
    await world.condition('wide', 'Ready', 'True');
  });

  test('without room for a surge: the old pod makes it, and nothing waits for ever', async () => {
    await edit('wide', { engine: { maxNumSeqs: 5 } });
    await world.condition('wide', 'Scheduled', 'False', 'QuotaExceeded');
    await eventually('the new generation', async () => {
      const { metadata } = (await world.get(llmServices, 'wide'))!;
      const { conditions } = await world.status('wide');
      const ready = conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
    });
  });
});

describe('deletion, without S3 and the Gateway API', () => {
  const children: readonly Resource[] = [pods, deployments, services, configMaps, controllerRevisions];
  const left = async (namespace: string): Promise<string[]> => {
    const found: string[] = [];
    for (const resource of children) {
      const query = { labelSelector: 'llmservice.dev/service' };
      const list = await world.api.admin.get<{ items: KubeObject[] }>(
        collectionPath(resource, namespace),
        query,
      );
      found.push(...list.items.map(({ metadata }) => `${resource.kind} ${metadata.name}`));
    }
    return found;
  };

  test('of a namespace waits for nobody, operator included', async () => {
    await world.makeNamespace('tenant');
    await grantOperatorRole(world, 'tenant');
    await world.makeCredentials('tenant');
    world.startOperator({ watchNamespace: 'tenant', leaseNamespace: 'tenant', capabilities });
    await world.create(
      llmService('shortlived', spec({ routing: { host: 'x.example.org' } }), { namespace: 'tenant' }),
    );
    await eventually('a pod', async () => (await left('tenant')).some((each) => each.startsWith('Pod')));
    await world.s3.stop();
    await world.removeGatewayApi();
    await world.request('DELETE', '/api/v1/namespaces/tenant', {});
    await eventually(
      'no namespace',
      async () => (await world.api.admin.find('/api/v1/namespaces/tenant')) === null,
      60_000,
    );
  });

  test('of a service too, and nothing of it stays', async () => {
    await world.delete(llmServices, 'wide');
    await eventually(
      'nothing left',
      async () => {
        const found = await left('default');
        if (found.length > 0) throw new Error(found.join());
        return true;
      },
      60_000,
    );
  });
});
