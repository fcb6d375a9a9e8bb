import { describe, expect, test } from '@jest/globals';
import { resolveConfig, type ConfigSources } from './resolve-config.js';

const pod = {
  ...{ STORAGE_URI: 's3://models/demo/', MODEL_NAME: 'demo', TENSOR_PARALLEL_SIZE: '4' },
  ...{ LWS_GROUP_SIZE: '2', LWS_LEADER_ADDRESS: 'demo-0.demo', LWS_WORKER_INDEX: '1' },
};
const resolve = (env: ConfigSources['env']) =>
  resolveConfig({ file: null, env: { ...pod, ...env }, flags: {} });

test('a pod of a group knows where the first is, and which it is', () => {
  expect(resolve({}).server).toMatchObject({
    ...{ leaderAddress: 'demo-0.demo', groupSize: 2, workerIndex: 1, rankPort: 7070 },
  });
});

describe('refused with the names of what contradicts each other', () => {
  test.each([
    ['a node beyond the last', { LWS_WORKER_INDEX: '2' }, 'LWS_WORKER_INDEX) must be 0 to 1, not 2'],
    ['no first node', { LWS_LEADER_ADDRESS: '' }, '--leader-address (LWS_LEADER_ADDRESS) does not say'],
    ['ranks that nodes do not divide', { LWS_GROUP_SIZE: '3' }, 'TENSOR_PARALLEL_SIZE): it is 4'],
    ['a worker without a group', { LWS_GROUP_SIZE: '1' }, 'must be 0 to 0, not 1'],
    ['GPUs', { ACCELERATOR: 'cuda', COLLECTIVES: 'library' }, 'ACCELERATOR) must be cpu, not cuda'],
    ['adapters', { LLMSERVICE_ADAPTERS: 'a=s3://models/a/' }, 'adapters (--adapters, --adapters-dir)'],
  ])('%s', (_, env, message) => {
    expect(() => resolve(env)).toThrow(message);
  });
});
