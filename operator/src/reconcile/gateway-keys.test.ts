import { expect, test } from '@jest/globals';
import type { LlmGatewaySpec } from '@llmservice/crds';
import type { KubeClient } from '../kube/client.js';
import { GatewayKeys } from './gateway-keys.js';

const spec = { auth: { keysSecretRef: { name: 'keys' } } } as unknown as LlmGatewaySpec;

test('a Secret that may be used is read again after seconds, one that may not at once', async () => {
  let [reads, now] = [0, 0];
  let purpose = 's3';
  const find = () => {
    reads += 1;
    return Promise.resolve({ metadata: { labels: { 'llmservice.dev/secret-for': purpose } } });
  };
  const keys = new GatewayKeys({ find } as unknown as Pick<KubeClient, 'find'>, () => now);
  const reason = async () => (await keys.refused({ namespace: 'team', spec }))?.reason ?? null;
  expect(await reason()).toBe('SecretNotAllowed');
  purpose = 'keys';
  expect([await reason(), await reason(), reads]).toEqual([null, null, 2]);
  purpose = 's3';
  now = 5_000;
  expect([await reason(), reads]).toEqual(['SecretNotAllowed', 3]);
});
