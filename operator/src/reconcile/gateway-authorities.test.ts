import { expect, test } from '@jest/globals';
import type { PodAuthority } from '../plan/traffic/pod-authority.js';
import { gatewayAuthorities } from './gateway-authorities.js';

const service = (name: string, spec?: object) => ({
  ...{ apiVersion: 'llmservice.dev/v1alpha1', kind: 'LlmService', metadata: { name, namespace: 'team' } },
  spec,
});

test('the authorities of services that speak HTTPS are read, and of no others', async () => {
  const asked: string[] = [];
  const tls = { secretRef: { name: 't' }, caConfigMapRef: { name: 'ca' } };
  const found = await gatewayAuthorities([service('plain', {}), service('old'), service('a', { tls })], {
    look: ({ namespace, name, spec }) => {
      asked.push(`${namespace}/${name} ${spec.tls.caConfigMapRef?.name ?? ''}`);
      return Promise.resolve<PodAuthority>({ state: 'known', pem: 'PEM' });
    },
  });
  expect(asked).toEqual(['team/a ca']);
  expect([...found]).toEqual([['team/a', { state: 'known', pem: 'PEM' }]]);
});
