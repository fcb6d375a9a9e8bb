// A variable of `spec.env` that the engine reads is one that the operator reads too: what it plans and what the pod then
// makes of config file and variables are the same.

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { specRules } from '@llmservice/crds';
import { planEngineConfig } from '../../operator/src/plan/pods/engine-config.js';
import { wantedService } from '../../operator/src/resource/wanted-service.fixture.js';
import { resolveConfig } from '../../runtime/src/config/resolve-config.js';
import { settings } from '../../runtime/src/config/settings.js';
import { reasoningParsers } from '../../runtime/src/request/text/think-ids.js';
import { toolCallParsers } from '../../runtime/src/tools/dialect.js';

/** A value other than the default, of each variable that stands for a field of the manifest. */
const values: Readonly<Record<string, string>> = {
  STORAGE_URI: 's3://bucket/folder/',
  MODEL_NAME: 'another',
  MODEL_ALIASES: 'one,two',
  AWS_ENDPOINT_URL: 'https://s3.example.org',
  AWS_REGION: 'here',
  S3_FORCE_PATH_STYLE: 'false',
  HF_ENDPOINT: 'https://hub.example.org',
  OCI_PLAIN_HTTP: 'true',
  MEMORY_BYTES_PER_DEVICE: '34359738368',
  TENSOR_PARALLEL_SIZE: '2',
  PIPELINE_PARALLEL_SIZE: '2',
  MAX_MODEL_LEN: '16384',
  GPU_MEMORY_UTILIZATION: '0.92',
  MAX_NUM_SEQS: '128',
  MAX_NUM_BATCHED_TOKENS: '8192',
  BLOCK_SIZE: '32',
  ENABLE_PREFIX_CACHING: 'false',
  KV_CACHE_DTYPE: 'fp8_e4m3',
  DTYPE: 'bfloat16',
  EXACTNESS: 'float32',
  QUANTIZATION: 'fp8',
  SPECULATIVE_METHOD: 'mtp',
  NUM_SPECULATIVE_TOKENS: '4',
  SPECULATIVE_URI: 's3://bucket/head/',
  COLLECTIVES: 'own',
  SELF_CHECK: 'false',
  WARMUP: 'short',
  WARMUP_SHAPES: '100:200',
  WARMUP_TIME_LIMIT_SECONDS: '60',
  TOOL_CALL_PARSER: 'qwen3_xml',
  TOOLS_WITHOUT_TEMPLATE: 'refuse',
  REASONING_PARSER: 'mistral',
  CLASSIFIER_FROM_TOKEN: 'no,yes',
  THINKING_DEFAULT: 'false',
  SAMPLING_DEFAULTS: '{"plain":{"temperature":0.7,"topP":0.8}}',
  MAX_REPLICAS: '3',
  PROTECT_METRICS: 'true',
  DRAIN_TIMEOUT_SECONDS: '60',
  NO_PROGRESS_TIMEOUT_SECONDS: '60',
};

/** Variables that stand for no field, and why. */
const reasons: Readonly<Record<string, string>> = {
  ACCELERATOR: 'follows from the resource',
  KEYS_DIR: 'where the Secret is mounted',
  ACCOUNTING_DIR: 'where the claim is mounted',
};

/** What a variable takes beside it. */
const beside = (name: string): { name: string; value: string }[] =>
  name === 'SPECULATIVE_URI' ? [{ name: 'SPECULATIVE_METHOD', value: 'mtp' }] : [];

/** For CPUs alone. */
const ofCpus = ['EXACTNESS', 'PIPELINE_PARALLEL_SIZE'];

const planWith = (env: { name: string; value: string }[]) => {
  const resourceName = env.some(({ name }) => ofCpus.includes(name)) ? 'none' : 'nvidia.com/gpu';
  const accelerator = { resourceName, devices: 2 };
  const ofHubs = env.some(({ name }) => name === 'HF_ENDPOINT');
  const uri = ofHubs ? 'hf://owner/name' : 's3://bucket/folder/';
  return planEngineConfig(wantedService({ model: { uri }, accelerator, env }));
};

/** What the manifest has to say anyway, so that the variable can only repeat it. */
const saidAlready = ['STORAGE_URI', 'TENSOR_PARALLEL_SIZE'];

test.each(settings.map(({ env }) => env))('%s stands for a field, or there is a reason why not', (env) => {
  expect(Object.hasOwn(values, env)).not.toBe(Object.hasOwn(reasons, env));
});

test.each(Object.entries(values))('%s=%s is what the operator plans with', (name, value) => {
  const env = [...beside(name), { name, value }];
  const planned = planWith(env);
  const inPod = resolveConfig({
    file: { path: 'engine-config.json', content: planned },
    env: Object.fromEntries(env.map((each) => [each.name, each.value])),
    flags: {},
  });
  expect(inPod.engineConfig).toEqual(planned);
  if (!saidAlready.includes(name)) expect(planned).not.toEqual(planWith(beside(name)));
});

test('a variable of hubs changes nothing of a service without one, nor is it judged', () => {
  const model = { uri: 's3://bucket/folder/' };
  const env = [{ name: 'HF_ENDPOINT', value: 'mirror' }];
  const { spec } = wantedService({ model, env });
  expect(spec.model).toEqual(wantedService({ model }).spec.model);
  expect(planEngineConfig(wantedService({ model, env }))).toEqual(planEngineConfig(wantedService({ model })));
});

test.each(Object.keys(values))('%s is in the table of deploy/docs/from-kserve.md', (name) => {
  const page = readFileSync(new URL('../../deploy/docs/from-kserve.md', import.meta.url), 'utf8');
  expect(page).toMatch(new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm'));
});

test.each([
  ['.toolCallParser', toolCallParsers],
  ['.reasoningParser', reasoningParsers],
])('the manifest takes for %s what the engine does', (field, parsers) => {
  const rule = specRules.find(({ fieldPath }) => fieldPath === field)?.rule ?? '';
  const names = [...rule.slice(rule.indexOf('[')).matchAll(/'(\w+)'/g)].map(([, name]) => name);
  expect(names).toEqual([...parsers.keys()].sort());
});
