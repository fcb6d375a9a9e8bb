import { expect, test } from '@jest/globals';
import type { LlmGatewaySpec } from '@llmservice/crds';
import type { KubeClient } from '../kube/client.js';
import { GatewayKeys } from './gateway-keys.js';

const spec = { auth: { keysSecretRef: { name: 'keys' } } } as unknown as LlmGatewaySpec;

const file = `keys: [{ id: a, sha256: ${'ab'.repeat(32)} }]`;
const secret = (texts: Readonly<Record<string, string>>, purpose = 'keys') => ({
  metadata: { labels: { 'llmservice.dev/secret-for': purpose } },
  data: Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  ),
});

test.each([
  [{}, 'it must have one of keys.yaml and keys.json'],
  [{ 'keys.yaml': file, 'keys.json': file }, 'it must have one of keys.yaml and keys.json'],
  [
    { 'keys.yaml': file.replace('}', ', tokensPerDay: many }') },
    'keys.yaml: keys[0].tokensPerDay must be tokens of prompts and answers per day',
  ],
  [{ 'keys.yaml': 'keys: [' }, 'keys.yaml: is not YAML: line 1'],
])('a Secret with %j is refused with what is wrong, and the path of it', async (texts, problem) => {
  const find = () => Promise.resolve(secret(texts));
  const keys = new GatewayKeys({ find } as unknown as Pick<KubeClient, 'find'>, () => 0);
  expect(await keys.refused({ namespace: 'team', spec })).toMatchObject({
    reason: 'KeysInvalid',
    message: expect.stringContaining(`spec.auth.keysSecretRef.name: Secret keys: ${problem}`),
  });
});

test('a Secret that may be used is read again after seconds, one that may not at once', async () => {
  let [reads, now] = [0, 0];
  let purpose = 's3';
  const find = () => {
    reads += 1;
    return Promise.resolve(secret({ 'keys.yaml': file }, purpose));
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
