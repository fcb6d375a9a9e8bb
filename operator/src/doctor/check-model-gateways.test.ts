import { expect, test } from '@jest/globals';
import type { LlmGatewayStatus } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { checkModelGateways } from './check-model-gateways.js';
import type { ClusterFacts } from './facts.js';
import { clusterFacts, forbidden, read } from './facts.fixture.js';

const yes = (type: string) => condition(type, 'True', type, 'It is so.');
const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string) => ({
  ...{ type, status, reason, message, observedGeneration: 1 },
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const good: LlmGatewayStatus = {
  observedGeneration: 1,
  address: 'http://models-gateway.default.svc',
  readyReplicas: 2,
  modelCount: 2,
  models: [
    { name: 'chat', service: 'first', state: 'Ready' },
    { name: 'small', service: 'second', state: 'Asleep' },
  ],
  conditions: ['Accepted', 'ResolvedRefs', 'Programmed', 'Ready'].map(yes),
};
const gateway = (status: LlmGatewayStatus, spec: object = {}): KubeObject => ({
  ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmGateway' },
  metadata: { name: 'models', namespace: 'default', generation: 1 },
  ...{ spec, status },
});

const linesOf = (change: Partial<ClusterFacts>): string[] =>
  checkModelGateways(clusterFacts(change)).map(({ level, message }) => `${level}: ${message}`);
const judged = (status: LlmGatewayStatus, spec?: object): string[] =>
  linesOf({ modelGateways: read([gateway(status, spec)]) });
const withConditions = (...conditions: ReturnType<typeof condition>[]): LlmGatewayStatus => ({
  ...good,
  conditions,
});

test.each<[string, string[], unknown[]]>([
  ['that serves', judged(good), ['ok: default/models: ready, 2 models by http://models-gateway.default.svc']],
  [
    'with a wrong spec',
    judged(good, { replicas: -1 }),
    [expect.stringMatching(/^problem: default\/models: spec\.replicas /)],
  ],
  [
    'that the operator has not seen',
    judged({ ...good, observedGeneration: 0 }),
    ['problem: default/models: the operator has not processed its generation 1'],
  ],
  [
    'that names what is not there',
    judged(withConditions(condition('ResolvedRefs', 'False', 'RefNotFound', 'Correct x.'), yes('Ready'))),
    ['problem: default/models: ResolvedRefs=False RefNotFound'],
  ],
  [
    'that is refused, of which the rest is an echo',
    judged(
      withConditions(
        condition('Accepted', 'False', 'SecretMissing', 'There is no Secret.'),
        condition('ResolvedRefs', 'Unknown', 'NotAccepted', 'Waits.'),
        yes('Ready'),
      ),
    ),
    ['problem: default/models: Accepted=False SecretMissing'],
  ],
  [
    'that its owner stopped',
    judged(withConditions(condition('Ready', 'False', 'Stopped', 'spec.replicas is 0.'))),
    ['info: default/models: Ready=False Stopped'],
  ],
  [
    'one of whose models has no pod',
    judged({ ...good, models: [{ name: 'chat', service: 'first', state: 'NotReady' }] }),
    ['warning: default/models: no pod answers for chat (first)'],
  ],
])('a gateway %s', (_, found, wanted) => {
  expect(found).toEqual(wanted);
});

test('where one service is asked about, only gateways that lead to it are judged', () => {
  const modelGateways = read([gateway(good)]);
  expect(linesOf({ modelGateways, service: 'second' })).toHaveLength(1);
  expect(linesOf({ modelGateways, service: 'third' })).toEqual([]);
  const unresolved = gateway({ ...good, models: [] }, { models: [{ name: 'x', service: 'third' }] });
  expect(linesOf({ modelGateways: read([unresolved]), service: 'third' })).toHaveLength(1);
});

test('a cluster that knows no gateways of models, and one that does not show them', () => {
  expect(linesOf({ modelGateways: read(null) })).toEqual(['info: the cluster does not know LlmGateway']);
  expect(linesOf({ modelGateways: forbidden })).toEqual([
    'warning: gateways of models of default: you may not read this',
  ]);
});
