// `llmservice doctor` beside a real API server with the operator's chart in it, an operator at work and the published
// CRDs of the Gateway API: a cluster in which all is well, what is reported of each thing that is broken, and what a person
// without rights sees.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { resources } from '../../operator/src/kube/resources.js';
import type { KubeObject } from '../../operator/src/kube/types.js';
import { eventually } from '../processes.js';
import type { Commands } from './command.js';
import { ExaminedCluster } from './examined-cluster.js';
import type { Kubectl } from './kubectl.js';
import { renderChart } from './operator-role.js';
import type { World } from './operator-world.js';

jest.setTimeout(120_000);

let cluster: ExaminedCluster;
let world: World;
let kubectl: Kubectl;
let commands: Commands;
beforeAll(async () => {
  cluster = await ExaminedCluster.start();
  ({ world, kubectl, commands } = cluster);
}, 180_000);
afterAll(() => cluster.stop());

const node = (name: string, labels: object, amounts: object, taints: object[] = []): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Node' },
  metadata: { name, labels: labels as Record<string, string> },
  spec: { taints },
  status: { capacity: amounts, allocatable: amounts },
});

test('a cluster in which all is well', async () => {
  const { code, stdout, stderr } = await commands.llmservice(['doctor']);
  expect(stderr).toBe('');
  expect(stdout).toContain('  ok      v1.34.3 at https://127.0.0.1:');
  // The schema of the real API server's copy, beside the one that this build was made from.
  expect(stdout).toContain(
    '  ok      llmservices.llmservice.dev serves v1alpha1 with the fields of this build',
  );
  expect(stdout).toContain('  ok      default/op: 2 of 2 pods are ready; serves every namespace');
  expect(stdout).toMatch(/ {2}ok {6}default\/op is led by operator-0, which renewed its Lease \d s ago/);
  expect(stdout).toContain('  ok      activator default/op-activator: 2 of 2 pods are ready');
  expect(stdout).toContain('  ok      default/op may all that its chart grants (as op)');
  expect(stdout).toContain('  ok      you may deploy, watch, log, chat with and drain services in default');
  expect(stdout).toContain('  ok      Gateway gateways/public is accepted and programmed');
  expect(stdout).toContain(
    "  ok      default/well: s3://models/llama/ was read from this machine with the service's own keys",
  );
  expect(stdout).toContain('  ok      default/well: ready');
  expect(stdout).toMatch(/0 problems, 0 warnings, \d+ ok\n$/);
  expect(code).toBe(0);
});

describe('what is broken', () => {
  const cases: [string, () => Promise<unknown>, string, () => Promise<unknown>][] = [
    [
      'an operator without pods',
      () => cluster.operatorPods(0),
      'problem: default/op has no pod that is ready, of 2: Look at its pods',
      () => cluster.operatorPods(2),
    ],
    [
      'a Lease that another operator holds',
      () => world.delete(resources.pods, 'operator-0'),
      'problem: default/op is not at work: operator-0, which is none of its pods, holds its Lease op',
      () => cluster.makeLeader(),
    ],
    [
      'a right that the operator lost',
      () => kubectl.output(['delete', 'clusterrolebinding', 'op']),
      'problem: default/op may not get, list, watch llmservices.llmservice.dev; get, patch llmservices/status',
      () => cluster.apply(...renderChart('op', '--show-only', 'templates/rbac.yaml')),
    ],
    [
      'a Gateway that is gone',
      () => kubectl.output(['delete', 'gateway', 'public', '-n', 'gateways']),
      'problem: there is no Gateway gateways/public',
      () => cluster.makeGateway(),
    ],
    [
      'a node without its device plugin',
      () =>
        world.request(
          'POST',
          '/api/v1/nodes',
          node('gpu', { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' }, {}),
        ),
      'problem: node gpu: label nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3 says that it has devices, but no resource',
      () => world.request('DELETE', '/api/v1/nodes/gpu'),
    ],
    [
      'S3 that is away',
      () => world.s3.pause(),
      'warning: default/well: from this machine (pods may be better placed) reading s3://models/llama/config.json failed',
      () => world.s3.resume(),
    ],
  ];
  test.each(cases)('%s', async (_, breakIt, line, mend) => {
    await breakIt();
    const { code, lines } = await cluster.report();
    await mend();
    expect(lines).toContainEqual(expect.stringContaining(line));
    expect(code).toBe(line.startsWith('problem') ? 1 : 4);
  });

  test('a Secret without its key, and one that is not there, of the service that is named', async () => {
    await kubectl.output(['create', 'secret', 'generic', 'half', '--from-literal', 'AWS_ACCESS_KEY_ID=a']);
    await kubectl.output(['label', 'secret', 'half', 'llmservice.dev/secret-for=s3']);
    const model = world.model('models/llama/');
    const s3 = { ...model.s3, credentialsSecretRef: { name: 'half' } };
    await world.createService('half', { model: { ...model, s3 }, auth: { keysSecretRef: { name: 'none' } } });
    await world.condition('half', 'ModelResolved', 'False');
    const { code, lines } = await cluster.report('half');
    expect(code).toBe(1);
    expect(lines).toContainEqual(
      expect.stringContaining(
        'problem: default/half: the Secret half (spec.model.s3.credentialsSecretRef) has no key AWS_SECRET_ACCESS_KEY',
      ),
    );
    expect(lines).toContainEqual(
      expect.stringContaining('the Secret none (spec.auth.keysSecretRef) does not exist'),
    );
    expect(lines).toContainEqual(
      expect.stringContaining('problem: default/half: ModelResolved=False KeysInvalid'),
    );
    expect(lines.join('\n')).not.toContain('default/well');
    await world.delete(resources.llmServices, 'half');
  });

  test('partitions that are not what a service is planned for, and a taint', async () => {
    const labels = {
      'amd.com/gpu.product-name': 'AMD_Instinct_MI300X_OAM',
      'amd.com/compute-memory-partition': 'spx_nps1',
    };
    await world.request('POST', '/api/v1/nodes', node('spx', labels, { 'amd.com/gpu': '8', pods: '9' }));
    // The API server taints new nodes as not ready, for a controller to remove it that is not there.
    const taints = [{ key: 'dedicated', value: 'llm', effect: 'NoSchedule' }];
    await world.request('PATCH', '/api/v1/nodes/spx', { spec: { taints } }, 'application/merge-patch+json');
    const accelerator = { profile: 'mi300x-cpx-nps4', devices: 2 };
    const model = world.model('models/llama/');
    await world.createService('tainted', { model, accelerator });
    const tolerations = [{ key: 'dedicated', operator: 'Exists' as const }];
    await world.createService('tolerates', { model, accelerator, tolerations });
    for (const name of ['tainted', 'tolerates']) {
      await eventually(name, async () => (await world.status(name)).observedGeneration === 1);
    }
    const { lines } = await cluster.report();
    for (const line of [
      'ok: amd.com/gpu: 8 allocatable on 1 node (mi300x-spx-nps1); 0 requested, at most 8 free on one node',
      'info: taint dedicated=llm:NoSchedule on spx: tolerated by default/tolerates',
      'problem: default/tainted: none of 1 node with amd.com/gpu can take its pod: 1: taint dedicated=llm:NoSchedule not tolerated',
      'warning: default/tolerates: its memory is planned for mi300x-cpx-nps4, and spx (mi300x-spx-nps1) can take its pod too',
    ]) {
      expect(lines).toContainEqual(expect.stringContaining(line));
    }
    await world.request('DELETE', '/api/v1/nodes/spx');
    for (const name of ['tainted', 'tolerates']) await world.delete(resources.llmServices, name);
  });
});

test('a person without rights sees line by line what is unknown, and nothing fails', async () => {
  const { code, stdout, stderr } = await commands.llmservice(['doctor'], 'activator');
  expect(stderr).toBe('');
  expect(code).toBe(4);
  expect(stdout).toContain(
    'info    llmservice.dev/v1alpha1 is served; whether with the schema of this build, you may not read',
  );
  for (const what of [
    'the operator (--operator-namespace says where it is)',
    'nodes',
    'GatewayClasses',
    'StorageClasses',
    'services of default',
  ]) {
    expect(stdout).toContain(`  warning ${what}: you may not read this\n          -> `);
  }
  expect(stdout).toContain('you may not create pods/eviction in default (kubectl llm drain)');
  expect(stdout).not.toContain('PROBLEM');
});

test('another kubeconfig, context and person are chosen as with kubectl', async () => {
  const admin = commands.kubeconfig('admin');
  const asNobody = await commands.llmservice([
    'doctor',
    '--kubeconfig',
    admin,
    '--context',
    'test',
    '--as',
    'nobody',
  ]);
  expect(asNobody.code).toBe(4);
  expect(asNobody.stdout).toContain('User "nobody" cannot list resource "nodes"');
  const missing = await commands.llmservice(['doctor', '--context', 'other']);
  expect([missing.code, missing.stderr]).toEqual([
    3,
    'llmservice doctor: the kubeconfig has no context other; it has test\n',
  ]);
});

test('wrong arguments and a cluster that is away have exit statuses of their own', async () => {
  expect((await commands.llmservice(['doctor', '--output', 'xml'])).code).toBe(2);
  expect((await commands.llmservice(['doctor', 'a', 'b'])).code).toBe(2);
  const gone = await commands.llmservice(['doctor', 'nothing']);
  expect([gone.code, gone.stdout]).toEqual([
    1,
    expect.stringContaining('there is no LlmService nothing in default'),
  ]);
  await world.api.stop();
  const away = await commands.llmservice(['doctor']);
  expect([away.code, away.stderr]).toEqual([
    3,
    expect.stringMatching(/API server at .* does not answer: .*ECONNREFUSED/),
  ]);
});
