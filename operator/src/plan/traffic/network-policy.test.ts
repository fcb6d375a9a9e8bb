import { expect, test } from '@jest/globals';
import { wantedService } from '../../resource/wanted-service.fixture.js';
import { planNetworkPolicy } from './network-policy.js';

const policy = (spec: object) => JSON.stringify(planNetworkPolicy(wantedService(spec), 'llmservice-system'));
const networkPolicy = { from: [{ podSelector: {} }] };

test('without the field there is none', () => {
  expect(policy({ scaling: { idleAfterSeconds: 60 } })).toBe('[]');
});

test.each([
  ['that never sleeps lets in the operator alone', {}, '"values":["llmservice-operator"]'],
  [
    'that sleeps lets in the activator too',
    { scaling: { idleAfterSeconds: 60 } },
    '"values":["llmservice-operator","llmservice-activator"]',
  ],
])('a service %s', (_, spec, values) => {
  expect(policy({ ...spec, networkPolicy })).toContain(values);
});

test('prefill pods call back the decode pods that they hand KV to', () => {
  const peer =
    '{"from":[{"podSelector":{"matchLabels":{"llmservice.dev/prefill":"demo"}}}],"ports":[{"port":8040,"endPort":8079,"protocol":"TCP"}]}';
  expect(policy({ networkPolicy })).not.toContain(peer);
  expect(policy({ networkPolicy, disaggregation: {} })).toContain(peer);
});
