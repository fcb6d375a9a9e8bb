import { expect, test } from '@jest/globals';
import { resolveConfig, type ConfigSources } from './resolve-config.js';

const pod = { STORAGE_URI: 's3://models/demo/', MODEL_NAME: 'demo', PIPELINE_PARALLEL_SIZE: '4' };
const resolve = (env: ConfigSources['env']) =>
  resolveConfig({ file: null, env: { ...pod, ...env }, flags: {} });

test('stages may have several ranks, and be on several nodes', () => {
  const nodes = { LWS_GROUP_SIZE: '2', LWS_LEADER_ADDRESS: 'demo-0.demo', LWS_WORKER_INDEX: '1' };
  const { parallelism } = resolve({ TENSOR_PARALLEL_SIZE: '3', ...nodes }).engineConfig;
  expect(parallelism).toEqual({ tensor: 3, pipeline: 4 });
});

test.each([
  ['too many ranks', { TENSOR_PARALLEL_SIZE: '32' }, 'at most 64 ranks, not 128'],
  ['GPUs', { ACCELERATOR: 'cuda' }, 'ACCELERATOR) must be cpu, not cuda'],
  ['drafts', { SPECULATIVE_METHOD: 'ngram' }, 'SPECULATIVE_METHOD) must be none, not ngram'],
  ['adapters', { LLMSERVICE_ADAPTERS: 'a=s3://models/a/' }, 'stages load no adapters'],
  [
    'prefill and decode apart',
    { DISAGGREGATION_ROLE: 'prefill' },
    'PIPELINE_PARALLEL_SIZE) must be 1, not 4',
  ],
  [
    'nodes with parts of stages',
    { LWS_GROUP_SIZE: '3', LWS_LEADER_ADDRESS: 'demo-0.demo', TENSOR_PARALLEL_SIZE: '3' },
    'since each node has whole stages: it is 4',
  ],
])('%s are refused by the names of the settings', (_, env, message) => {
  expect(() => resolve(env)).toThrow(message);
});
