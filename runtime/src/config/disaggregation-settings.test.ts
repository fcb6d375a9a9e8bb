import { describe, expect, test } from '@jest/globals';
import { resolveConfig, type ConfigSources } from './resolve-config.js';

const pod = {
  ...{ STORAGE_URI: 's3://models/demo/', MODEL_NAME: 'demo' },
  ...{ DISAGGREGATION_ROLE: 'decode', PREFILL_HOST: 'demo-prefill,10.0.0.7' },
};
const resolve = (env: ConfigSources['env']) =>
  resolveConfig({ file: null, env: { ...pod, ...env }, flags: {} });

test('a decode pod knows where prefill pods are', () => {
  expect(resolve({}).server).toMatchObject({
    ...{ disaggregationRole: 'decode', prefillHost: ['demo-prefill', '10.0.0.7'] },
    ...{ prefillMinTokens: 512, prefillPort: 8030, kvTransferPort: 8040 },
  });
});

test('without a role nothing is asked of the others', () => {
  const env = { DISAGGREGATION_ROLE: '', PREFILL_HOST: '', ENABLE_PREFIX_CACHING: 'false' };
  expect(resolve(env).server.disaggregationRole).toBe('none');
});

describe('refused with the names of what contradicts each other', () => {
  test.each([
    ['an unknown role', { DISAGGREGATION_ROLE: 'both' }, 'expected one of none, prefill, decode'],
    ['no prefill pod', { PREFILL_HOST: '' }, '--prefill-host (PREFILL_HOST) does not say'],
    ['no prefix cache', { ENABLE_PREFIX_CACHING: 'false' }, 'ENABLE_PREFIX_CACHING) must be true'],
    [
      'ranks on several nodes',
      { TENSOR_PARALLEL_SIZE: '2', LWS_GROUP_SIZE: '2', LWS_LEADER_ADDRESS: 'demo-0.demo' },
      '--group-size (LWS_GROUP_SIZE) must be 1, not 2',
    ],
    ['stages', { PIPELINE_PARALLEL_SIZE: '2' }, 'PIPELINE_PARALLEL_SIZE) must be 1, not 2'],
    ['TLS', { LLMSERVICE_TLS_DIR: '/tls' }, '--tls-dir (LLMSERVICE_TLS_DIR) must not be set'],
    ['one port for two things', { PREFILL_PORT: '8079' }, '--prefill-port (PREFILL_PORT) is 8079'],
  ])('%s', (_, env, message) => {
    expect(() => resolve(env)).toThrow(message);
  });
});
