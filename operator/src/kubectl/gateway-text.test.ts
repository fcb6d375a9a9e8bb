import { expect, test } from '@jest/globals';
import type { LlmGatewayStatus } from '@llmservice/crds';
import { describeGateway, describeGateways, type GatewayObject } from './gateway-text.js';

const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
  ...{ type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' },
});
const gateway = (status: LlmGatewayStatus): GatewayObject => ({
  ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmGateway' },
  metadata: { name: 'models', namespace: 'team', generation: 1 },
  spec: { replicas: 2 },
  status,
});
const serving = gateway({
  ...{ observedGeneration: 1, readyReplicas: 2, modelCount: 1, address: 'http://models-gateway.team.svc' },
  models: [
    { name: 'chat', service: 'first', state: 'Ready' },
    { name: 'lost', service: 'absent', state: 'Unresolved' },
  ],
  conditions: [
    condition(
      'ResolvedRefs',
      'False',
      'RefNotFound',
      'Correct spec.models[1].service: names LlmService absent.',
    ),
    condition('Ready', 'True', 'Serving', '1 of 2 models answer.'),
  ],
});
const absent = gateway({
  ...{ observedGeneration: 1, modelCount: 0, url: 'http://models.example.org/' },
  conditions: [condition('Ready', 'False', 'NoRouter', 'No router takes requests yet.')],
});

test('a gateway: whether it serves, where, what is wrong, and who answers for each model', () => {
  expect(describeGateway(serving).split('\n')).toEqual([
    'team/models: ready, Serving: 1 of 2 models answer.',
    '  url       http://models-gateway.team.svc',
    '  routers   2 ready of 2',
    '  ResolvedRefs=False RefNotFound',
    '    Correct spec.models[1].service: names LlmService absent.',
    '  MODEL  SERVICE  STATE',
    '  chat   first    Ready',
    '  lost   absent   Unresolved',
    '',
  ]);
});

test('gateways, one line each, and why one does not serve', () => {
  expect(describeGateways([serving, absent], false).split('\n')).toEqual([
    'GATEWAY  READY  REASON    MODELS  URL',
    'models   True   Serving   1       http://models-gateway.team.svc',
    'models   False  NoRouter  0       http://models.example.org/',
    '  No router takes requests yet.',
    '',
  ]);
});

test('one that the operator has not seen, or not in its newest form', () => {
  expect(describeGateway(gateway({}))).toContain(
    'not ready, Pending: The operator has not processed the newest change yet.',
  );
});
