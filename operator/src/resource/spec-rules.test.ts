import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { api } from '@llmservice/crds';
import { parse } from 'yaml';
import { parseSpec } from './parse-spec.js';

function violations(spec: object): string[] {
  const parsed = parseSpec(
    {
      apiVersion: api.groupVersion,
      kind: api.kind,
      metadata: { name: 'bad' }, // as the rows of bad-manifests.yaml have it
      spec: { model: { uri: 's3://b/m/' }, ...spec },
    },
    'manifest',
  );
  return parsed.ok ? [] : parsed.violations.map(({ path, message }) => `${path} ${message}`);
}

const paths = (spec: object): string[] => violations(spec).map((each) => each.split(' ', 1).join());

test.each<[object, string]>([
  [{ engine: { args: ['--x'] } }, 'spec.engine.args are for engine.runtime vllm; remove them'],
  [
    { engine: { reasoningParser: 'granite' } },
    'spec.engine.reasoningParser of the native runtime is one of deepseek_r1, gemma4, glm45, mistral and qwen3',
  ],
  [
    { engine: { toolCallParser: 'openai' } },
    'spec.engine.toolCallParser of the native runtime is one of deepseek_v3, deepseek_v31, functiongemma, gemma4, glm45, glm47, hermes, hunyuan_a13b, llama3_json, minimax, minimax_m2, mistral, nemotron_json, qwen3_coder, qwen3_xml, seed_oss and xlam',
  ],
])('the native engine is refused %j', (spec, reported) => {
  expect(violations(spec)).toEqual([expect.stringContaining(reported)]);
});

test.each<[object, string, string?]>([
  [
    { model: { uri: 's3://b/m.gguf' } },
    'spec.model.uri',
    'names a GGUF file, which only the native runtime reads',
  ],
  [{ model: { uri: 's3://b/m/', cache: { kind: 'pvc', claimName: 'c' } } }, 'spec.model.cache.kind'],
  [{ engine: { quantization: 'int8' } }, 'spec.engine.quantization'],
  [{ engine: { exactness: 'float32' } }, 'spec.engine.exactness'],
  [{ engine: { toolsWithoutTemplate: 'describe' } }, 'spec.engine.toolsWithoutTemplate'],
  [{ engine: { speculative: { method: 'mtp', uri: 's3://b/h/' } } }, 'spec.engine.speculative.uri'],
  [{ auth: { keysSecretRef: { name: 'k' } } }, 'spec.auth.keysSecretRef'],
  [{ accounting: { persistentVolumeClaimRef: { name: 'c' } } }, 'spec.accounting.persistentVolumeClaimRef'],
  [{ tls: { secretRef: { name: 't' } } }, 'spec.tls.secretRef'],
  [{ server: { maxWaiting: 8 } }, 'spec.server'],
  [{ requestLog: { uri: 's3://b/log/' } }, 'spec.requestLog'],
  [{ administration: { keysSecretRef: { name: 'k' } } }, 'spec.administration'],
  [{ adapters: [{ name: 'a', uri: 's3://b/a/' }] }, 'spec.adapters'],
  [{ engine: { maxAdapters: 1 } }, 'spec.engine.maxAdapters'],
])(
  'vLLM is refused %j',
  (spec: { engine?: object }, path, why = 'is supported by the native runtime alone') => {
    const engine = { runtime: 'vllm', ...spec.engine };
    expect(paths({ ...spec, engine })).toEqual([path]);
    expect(violations({ ...spec, engine })).toEqual([expect.stringContaining(why)]);
  },
);

test.each<[object]>([
  [{ resourceName: 'amd.com/gpu', devices: 16 }],
  [{ profile: 'mi300x-cpx-nps4', devices: 9 }],
])('the native runtime is refused more GPUs than it adds up over: %j', (accelerator) => {
  expect(violations({ accelerator })).toEqual([
    expect.stringMatching(/^spec\.accelerator\.devices exceeds the 8 GPUs/),
  ]);
});

test.each<[object]>([
  [{ accelerator: { resourceName: 'amd.com/gpu', devices: 8 } }],
  [{ accelerator: { devices: 16 } }],
  [{ accelerator: { resourceName: 'amd.com/gpu', devices: 16 }, engine: { collectives: 'library' } }],
  [{ accelerator: { resourceName: 'amd.com/gpu', devices: 16 }, engine: { runtime: 'vllm' } }],
])('%j may have its devices', (spec) => {
  expect(violations(spec)).toEqual([]);
});

test.each<[object, string]>([
  [{ accelerator: { resourceName: 'amd.com/gpu', devices: 2 } }, 'nodes above 1 does not work with devices'],
  [{ accelerator: { profile: 'h100', devices: 2 }, engine: { collectives: 'library' } }, 'with devices yet'],
  [{ accelerator: { devices: 2 }, resources: undefined }, 'set resources.limits.memory'],
])('on several nodes %j is refused', (spec, why) => {
  const resources = { limits: { memory: '8Gi' } };
  expect(violations({ parallelism: { nodes: 2 }, resources, ...spec }).join()).toContain(why);
});

test.each<[object, string]>([
  [{ accelerator: { devices: 3 } }, 'spec.parallelism.pipeline must divide accelerator.devices'],
  [
    { parallelism: { pipeline: 2, tensor: 4 } },
    'spec.parallelism.tensor times parallelism.pipeline must equal',
  ],
  [{ parallelism: { pipeline: 2, nodes: 4 } }, 'each node has whole stages'],
  [{ accelerator: { profile: 'h100', devices: 4 } }, 'pipeline above 1 does not work with devices yet'],
  [
    { engine: { runtime: 'vllm', image: 'vllm' } },
    'spec.engine.runtime vllm does not work with parallelism.pipeline',
  ],
  [{ engine: { speculative: { method: 'ngram' } } }, 'set its method to none'],
  [{ engine: { maxAdapters: 1 } }, 'adapters do not work with parallelism.pipeline yet'],
  [{ disaggregation: { prefill: {} } }, 'disaggregation does not work with parallelism.pipeline above 1'],
])('in two stages %j is refused', (spec, why) => {
  const stages = { accelerator: { devices: 4 }, parallelism: { pipeline: 2 } };
  expect(violations(stages)).toEqual([]);
  expect(violations({ ...stages, ...spec }).join()).toContain(why);
});

test.each(['file:///logs/', 's3://', 's3://b/m.gguf'])('a request log at %s is refused', (uri) => {
  expect(violations({ requestLog: { uri } }).join()).toMatch(/^spec\.requestLog\.uri .*must/);
});

test.each<[string, object, string]>([
  ['a folder without a path', { kind: 'hostPath' }, 'path'],
  ['a path without kind', { path: '/x' }, 'path'],
  ['a claim without a name', { kind: 'pvc' }, 'claimName'],
  ['a name of a claim for a folder', { kind: 'hostPath', path: '/x', claimName: 'w' }, 'claimName'],
  ['a path that leaves its folder', { kind: 'hostPath', path: '/var/../etc' }, 'path'],
  ['a path that is relative', { kind: 'hostPath', path: 'var' }, 'path'],
  ['the root', { kind: 'hostPath', path: '/' }, 'path'],
  ['a size of what is not shared', { maxSize: '1Gi' }, 'maxSize'],
  ['a pull before what is not shared', { prePull: true }, 'prePull'],
])('of a cache, %s is refused', (_, cache, field) => {
  expect(paths({ model: { uri: 's3://b/m/', cache } })).toEqual([`spec.model.cache.${field}`]);
});

test('a rule of an item names the item, one of the root the field below it', () => {
  const env = [{ name: 'A' }, { name: 'LLMSERVICE_PORT' }];
  expect(paths({ env })).toEqual(['spec.env[1].name']);
  const routing = { host: 'a.example', fallback: { service: 'bad' } };
  expect(paths({ routing })).toEqual(['spec.routing.fallback.service']);
});

test('a variable that stands for a field meets the rules of the field', () => {
  expect(paths({ env: [{ name: 'MAX_NUM_BATCHED_TOKENS', value: '100' }] })).toEqual([
    'spec.engine.maxNumBatchedTokens',
  ]);
});

describe('without an API server is refused', () => {
  interface BadManifest {
    readonly at: string;
    readonly spec: object;
  }
  const page = readFileSync(new URL('../../../test/integration/bad-manifests.yaml', import.meta.url), 'utf8');
  const { refused } = parse(page) as { refused: readonly BadManifest[] };
  // That a list has nothing twice the API server alone checks.
  const repeats = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false;
    const texts = Object.values(value).map((each) => JSON.stringify(each));
    return (Array.isArray(value) && new Set(texts).size < texts.length) || Object.values(value).some(repeats);
  };
  const judged = refused.filter(({ spec }) => !repeats(spec));

  test('all but five are judged', () => expect(refused.length - judged.length).toBe(5));

  test.each(judged.map(({ at, spec }) => [JSON.stringify(spec), at, spec] as const))('%s', (_, at, spec) => {
    expect(violations(spec).join('\n')).toContain(at);
  });
});
