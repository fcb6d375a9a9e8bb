// A cluster in which nothing is wrong, for tests that change one thing.

import type { KubeObject, Node } from '../kube/types.js';
import type { ClusterFacts, OperatorFacts, ServiceFacts } from './facts.js';
import type { Reading } from './reading.js';

export const read = <T>(value: T): Reading<T> => ({ state: 'read', value });
export const forbidden: Reading<never> = { state: 'forbidden', message: 'nodes is forbidden: User "ann"' };

export function operatorFacts(change: Partial<OperatorFacts> = {}): OperatorFacts {
  return {
    deployment: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'op', namespace: 'sys', labels: { 'app.kubernetes.io/version': '0.1.0' } },
      spec: { replicas: 2 },
      status: { readyReplicas: 2 },
    },
    settings: {
      watchNamespaces: null,
      gateway: null,
      istioGateway: null,
      endpointPickerImage: null,
      serviceAccount: 'op',
      leaseName: 'op',
    },
    lease: read({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'op' },
      spec: { holderIdentity: 'op-1', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
    }),
    pods: read(['op-1', 'op-2']),
    denied: read([]),
    gateway: null,
    gatewayClass: null,
    istioGateway: null,
    ...change,
  };
}

export function clusterFacts(change: Partial<ClusterFacts> = {}): ClusterFacts {
  return {
    server: 'https://cluster.example:6443',
    version: 'v1.34.3',
    now: new Date('2026-01-01T00:00:03Z'),
    groups: read([]),
    servesOurs: read(true),
    definition: forbidden,
    operators: read([operatorFacts()]),
    activators: read([]),
    deniedToPerson: read([]),
    nodes: read([]),
    resourceSlices: read(null),
    requested: read(new Map()),
    gatewayClasses: read([]),
    storageClasses: read([]),
    namespace: 'default',
    service: null,
    services: read([]),
    serviceClasses: read([]),
    modelGateways: read([]),
    ...change,
  };
}

export function node(
  name: string,
  amounts: Readonly<Record<string, string>>,
  change: {
    labels?: Record<string, string>;
    capacity?: Record<string, string>;
    spec?: NonNullable<Node['spec']>;
  } = {},
): Node {
  const { labels = {}, capacity = amounts, spec = {} } = change;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec,
    status: { capacity, allocatable: amounts },
  };
}

export function serviceFacts(
  object: Pick<KubeObject, 'metadata'> & { readonly spec: object; readonly status?: object },
  change: Partial<ServiceFacts> = {},
): ServiceFacts {
  const { apiVersion, kind } = { apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService' };
  return { object: { apiVersion, kind, ...object }, references: [], checkpoint: null, ...change };
}
