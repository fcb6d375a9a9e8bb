import { describe, expect, test } from '@jest/globals';
import { llmServiceSchema } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { checkApiServer, checkDefinition, checkPerson } from './check-api.js';
import { checkGateways } from './check-gateways.js';
import { checkOperators } from './check-operator.js';
import { checkMetrics, checkNodeGroups, checkStorage } from './check-capabilities.js';
import { diagnose, exitCodeOf } from './diagnose.js';
import type { ClusterFacts, CustomResourceDefinition, GatewayObject, OperatorFacts } from './facts.js';
import { clusterFacts, forbidden, operatorFacts, read } from './facts.fixture.js';
import type { Finding } from './finding.js';
import { describeFindings } from './report.js';

const linesOf = (findings: readonly Finding[]): string[] =>
  findings.map(({ level, message }) => `${level}: ${message}`);

function definition(schema: object = llmServiceSchema, name = 'v1alpha1'): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'llmservices.llmservice.dev' },
    spec: { versions: [{ name, served: true, storage: true, schema: { openAPIV3Schema: schema } }] },
  };
}

/** The build's schema with one part of the spec replaced. */
function changed(part: string, change: (schema: Record<string, unknown>) => void): object {
  const copy = structuredClone(llmServiceSchema) as {
    properties: { spec: { properties: Record<string, never> } };
  };
  change(part === '' ? copy.properties.spec.properties : copy.properties.spec.properties[part]!);
  return copy;
}

test('an API server without stable CEL rules is too old', () => {
  expect(checkApiServer(clusterFacts({ version: 'v1.28.9' }))[0]).toMatchObject({ level: 'problem' });
  expect(checkApiServer(clusterFacts({ version: 'v1.34.3-eks-1' }))[0]).toMatchObject({ level: 'ok' });
});

describe('the custom resource', () => {
  test.each<[string, Partial<ClusterFacts>, string]>([
    ['of this build', { definition: read(definition()) }, 'ok: llmservices.llmservice.dev serves v1alpha1'],
    ['missing', { definition: read(null) }, 'problem: there is no CustomResourceDefinition'],
    [
      'of another version',
      { definition: read(definition({}, 'v1')) },
      'problem: llmservices.llmservice.dev serves v1',
    ],
    [
      'older, without a field',
      { definition: read(definition(changed('', (spec) => delete spec['tls']))) },
      'problem: llmservices.llmservice.dev does not know spec.tls, which this build does',
    ],
    [
      'newer, with one more',
      { definition: read(definition(changed('', (spec) => (spec['later'] = { type: 'string' })))) },
      'warning: llmservices.llmservice.dev is of another version than this build: it has spec.later besides',
    ],
    [
      'with another bound',
      { definition: read(definition(changed('replicas', (schema) => (schema['maximum'] = 7)))) },
      'other types, bounds or defaults for spec.replicas',
    ],
    ['not readable but served', {}, 'info: llmservice.dev/v1alpha1 is served'],
    ['not readable and not served', { servesOurs: read(false) }, 'problem: the API does not serve'],
  ])('%s', (_, facts, line) => {
    const lines = linesOf(checkDefinition(clusterFacts(facts)));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(line);
  });
});

describe('the operator', () => {
  const check = (change: Partial<OperatorFacts>, version = '0.1.0') =>
    checkOperators(clusterFacts({ operators: read([operatorFacts(change)]) }), version);
  const { deployment, settings } = operatorFacts();

  test('that is well has a line for each of its parts', () => {
    expect(linesOf(check({}))).toEqual([
      'ok: sys/op: 2 of 2 pods are ready; serves every namespace',
      'ok: sys/op is led by op-1, which renewed its Lease 3 s ago',
      'ok: sys/op may all that its chart grants (as op)',
      'info: there is no activator: no service falls asleep',
    ]);
  });

  test.each([
    [2, 'ok: activator sys/op: 2 of 2 pods are ready'],
    [0, 'problem: activator sys/op has no pod that is ready: services that are asleep stay so'],
  ])('and its activator with %d pods', (readyReplicas, line) => {
    const activators = read([{ ...deployment, status: { readyReplicas } }]);
    expect(linesOf(checkOperators(clusterFacts({ activators }), '0.1.0'))).toContain(line);
  });

  test.each<[string, Partial<OperatorFacts>, string]>([
    [
      'no pod ready',
      { deployment: { ...deployment, status: {} } },
      'problem: sys/op has no pod that is ready, of 2',
    ],
    ['one ready', { deployment: { ...deployment, status: { readyReplicas: 1 } } }, 'warning: sys/op: 1 of 2'],
    ['no Lease', { lease: read(null) }, 'problem: sys/op has no leader'],
    [
      'an old Lease',
      {
        lease: read({
          ...({ apiVersion: 'v1', kind: 'Lease', metadata: { name: 'l' } } as KubeObject),
          spec: { holderIdentity: 'op-1', leaseDurationSeconds: 15, renewTime: '2025-12-31T23:59:00Z' },
        }),
      },
      'problem: the leader of sys/op, op-1, has not renewed its Lease for 63 s',
    ],
    [
      'a Lease that another holds',
      { pods: read(['op-2']) },
      'problem: sys/op is not at work: op-1, which is none of its pods, holds its Lease op',
    ],
    ['pods that may not be read', { pods: forbidden }, 'warning: pods of sys/op: you may not read this'],
    ['a Lease that may not be read', { lease: forbidden }, 'warning: Lease of sys/op: you may not read this'],
    [
      'rights that it lacks',
      { denied: read([{ group: 'apps', resource: 'deployments', verb: 'patch', purpose: '' }]) },
      'problem: sys/op may not patch deployments.apps',
    ],
    ['rights that may not be asked for', { denied: forbidden }, 'warning: permissions of sys/op'],
  ])('%s', (_, change, line) => {
    expect(linesOf(check(change)).join('\n')).toContain(line);
  });

  test('of another version than this command', () => {
    expect(linesOf(check({}, '0.2.0')).join()).toContain(
      'warning: sys/op is of version 0.1.0, this command of 0.2.0',
    );
  });

  test('that is not there', () => {
    expect(linesOf(checkOperators(clusterFacts({ operators: read([]) }), '0.1.0'))[0]).toMatch(
      /^problem: no Deployment/,
    );
  });

  test.each<[(string | null)[], boolean]>([
    [[null, 'a'], true],
    [['a', 'a'], true],
    [['a', 'b'], false],
    [['a,b', 'b,c'], true],
    [['a,b', 'c,d'], false],
  ])('for %j side by side', (namespaces, rivals) => {
    const operators = namespaces.map((watched) =>
      operatorFacts({ settings: { ...settings, watchNamespaces: watched?.split(',') ?? null } }),
    );
    const lines = linesOf(checkOperators(clusterFacts({ operators: read(operators) }), '0.1.0')).join();
    expect(lines.includes('undo each other')).toBe(rivals);
  });
});

test('what the person may not is reported with what it is for', () => {
  const denied = read([
    { group: '', resource: 'pods/eviction', verb: 'create', purpose: 'kubectl llm drain' },
    { group: '', resource: 'secrets', verb: 'get', purpose: 'check Secrets and buckets from here' },
  ]);
  expect(linesOf(checkPerson(clusterFacts({ deniedToPerson: denied })))).toEqual([
    'warning: you may not create pods/eviction in default (kubectl llm drain)',
    'warning: you may not get secrets in default (check Secrets and buckets from here)',
  ]);
});

describe('gateways', () => {
  const gatewayApi = read(['gateway.networking.k8s.io']);
  const object = (conditions: object[]): GatewayObject =>
    ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'public' },
      spec: { gatewayClassName: 'envoy' },
      status: { conditions },
    }) as unknown as GatewayObject;
  const accepted = [
    { type: 'Accepted', status: 'True' },
    { type: 'Programmed', status: 'True' },
  ];
  const withGateway = (change: Partial<OperatorFacts>) =>
    read([
      operatorFacts({
        settings: { ...operatorFacts().settings, gateway: { namespace: 'gw', name: 'public' } },
        gateway: read(object(accepted)),
        gatewayClass: read(object(accepted)),
        ...change,
      }),
    ]);
  const { settings } = operatorFacts();
  const istioGateway = { namespace: 'istio-system', name: 'in' };

  test.each<[string, Partial<ClusterFacts>, string]>([
    ['nothing installed', {}, 'services answer inside the cluster alone'],
    ['no API', { operators: withGateway({}) }, 'problem: the operator is to use the Gateway gw/public'],
    [
      'well',
      { groups: gatewayApi, operators: withGateway({}) },
      'ok: Gateway gw/public is accepted and programmed',
    ],
    [
      'no Gateway',
      { groups: gatewayApi, operators: withGateway({ gateway: read(null) }) },
      'problem: there is no Gateway gw/public',
    ],
    [
      'not programmed',
      {
        groups: gatewayApi,
        operators: withGateway({
          gateway: read(
            object([
              { type: 'Accepted', status: 'True' },
              { type: 'Programmed', status: 'False', message: 'no address' },
            ]),
          ),
        }),
      },
      'problem: Gateway gw/public is not Programmed: no address',
    ],
    [
      'a class that is not there',
      { groups: gatewayApi, operators: withGateway({ gatewayClass: read(null) }) },
      'problem: GatewayClass envoy of the Gateway public does not exist',
    ],
    [
      'a class that nobody accepts',
      { groups: gatewayApi, gatewayClasses: read([object([])]) },
      'warning: GatewayClass public is not accepted: its controller has not answered',
    ],
    [
      'istio missing',
      { operators: read([operatorFacts({ settings: { ...settings, istioGateway } })]) },
      'problem: the operator is to use the istio Gateway istio-system/in, and istio is not installed',
    ],
    [
      'no istio Gateway',
      {
        groups: read(['networking.istio.io']),
        operators: read([
          operatorFacts({ settings: { ...settings, istioGateway }, istioGateway: read(null) }),
        ]),
      },
      'problem: there is no istio Gateway istio-system/in',
    ],
    ['no right to read the API groups', { groups: forbidden }, 'warning: API groups: you may not read this'],
  ])('%s', (_, facts, line) => {
    expect(linesOf(checkGateways(clusterFacts(facts))).join('\n')).toContain(line);
  });
});

test('APIs of metrics and the default StorageClass are information', () => {
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const storage = (name: string, annotations: Record<string, string>): KubeObject => ({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
    metadata: { name, annotations },
  });
  const facts = clusterFacts({
    groups: read(['metrics.k8s.io']),
    storageClasses: read([storage('fast', isDefault), storage('slow', {})]),
  });
  expect(linesOf(checkMetrics(facts))).toEqual(
    expect.arrayContaining([
      expect.stringContaining('info: there is metrics.k8s.io'),
      expect.stringContaining('info: there is no keda.sh'),
    ]),
  );
  expect(linesOf(checkNodeGroups(facts))).toEqual([
    'info: there is no leaderworkerset.x-k8s.io (LeaderWorkerSet: replicas on several nodes)',
  ]);
  const served = clusterFacts({ groups: read(['leaderworkerset.x-k8s.io']) });
  expect(linesOf(checkNodeGroups(served))[0]).toMatch(/^info: there is leaderworkerset/);
  expect(linesOf(checkStorage(facts))).toEqual(['info: the default StorageClass is fast']);
  const two = clusterFacts({ storageClasses: read([storage('a', isDefault), storage('b', isDefault)]) });
  expect(linesOf(checkStorage(two))[0]).toMatch(/^warning: .*a, b/);
});

test('the report has the checks in order, remedies below, and counts; the gravest finding is the exit status', () => {
  const facts = clusterFacts({ operators: read([operatorFacts({ lease: read(null) })]) });
  const text = describeFindings(diagnose(facts, '0.1.0'));
  expect(text).toMatch(/^api server\n {2}ok {6}v1\.34\.3 at https:/);
  expect(text).toContain(
    '\n  PROBLEM sys/op has no leader: nobody reconciles\n          -> Look at the logs',
  );
  expect(text.trimEnd().split('\n').at(-1)).toMatch(/^1 problem, 0 warnings, \d+ ok$/);
  const finding = (level: Finding['level']): Finding => ({
    check: 'nodes',
    level,
    message: '',
    remedy: null,
  });
  expect(exitCodeOf([finding('warning'), finding('problem')])).toBe(1);
  expect(exitCodeOf([finding('warning'), finding('ok')])).toBe(4);
  expect(exitCodeOf([finding('info'), finding('ok')])).toBe(0);
});
