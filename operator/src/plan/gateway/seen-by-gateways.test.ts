import { expect, test } from '@jest/globals';
import { seenByGateways } from './seen-by-gateways.js';

interface Change {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

const seen = ({ metadata, spec, status }: Change) =>
  seenByGateways({
    ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService' },
    metadata: { name: 'a', namespace: 'team', uid: '1', ...metadata },
    spec: { model: {}, ...spec },
    status: { conditions: [{ type: 'Serving', status: 'False', reason: 'Loading' }], ...status },
  });
const serving = (status: string, reason: string, message = '') => ({
  conditions: [{ type: 'Serving', status, reason, message }],
});

test.each<[string, Change]>([
  ['its version', { metadata: { resourceVersion: '7', annotations: { a: 'b' } } }],
  ['its copies', { spec: { replicas: 3 }, status: { readyReplicas: 2 } }],
  ['how far it is', { status: serving('False', 'Loading', '7 of 9 GiB') }],
])('%s is nothing to a gateway', (_, change) => {
  expect(seen(change)).toBe(seen({}));
});

test.each<[string, Change]>([
  ['another of its name', { metadata: { uid: '2' } }],
  ['its end', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ['a label', { metadata: { labels: { tier: 'public' } } }],
  ['a name', { spec: { model: { aliases: ['b'] } } }],
  ['an adapter', { spec: { adapters: [{ name: 'law' }] } }],
  ['its runtime', { spec: { engine: { runtime: 'vllm' } } }],
  ['HTTPS', { spec: { tls: { secretRef: { name: 't' } } } }],
  ['an authority', { spec: { tls: { caConfigMapRef: { name: 'ca' } } } }],
  ['its host', { spec: { routing: { host: 'a.example' } } }],
  ['a host that it has', { status: { url: 'http://a.example/' } }],
  ['that it serves', { status: serving('True', 'Serving') }],
  ['that it sleeps', { status: serving('False', 'Asleep') }],
])('%s is', (_, change) => {
  expect(seen(change)).not.toBe(seen({}));
});
