import { expect, test } from '@jest/globals';
import { api } from '@llmservice/crds';
import { parseSpec } from './parse-spec.js';

function violations(spec: object): string[] {
  const parsed = parseSpec({
    apiVersion: api.groupVersion,
    kind: api.kind,
    metadata: { name: 'demo' },
    spec: { model: { uri: 's3://b/m/' }, ...spec },
  });
  return parsed.ok ? [] : parsed.violations.map(({ path, message }) => `${path} ${message}`);
}

test.each<[object, string]>([
  [{ engine: { args: ['--x'] } }, 'spec.engine.args is for engine.runtime vllm'],
  [{ engine: { reasoningParser: 'qwen3' } }, 'spec.engine.reasoningParser is for engine.runtime vllm'],
  [{ engine: { toolCallParser: 'hermes' } }, 'spec.engine.toolCallParser is for engine.runtime vllm'],
])('the native engine is refused %j', (spec, reported) => {
  expect(violations(spec)).toEqual([reported]);
});

test.each<[object, string]>([
  [{ model: { uri: 's3://b/m.gguf' } }, 'spec.model.uri (a GGUF file)'],
  [{ engine: { quantization: 'int8' } }, 'spec.engine.quantization (int8)'],
  [{ engine: { speculative: { method: 'mtp', uri: 's3://b/h/' } } }, 'spec.engine.speculative.uri'],
  [{ auth: { keysSecretRef: { name: 'k' } } }, 'spec.auth.keysSecretRef'],
  [{ accounting: { persistentVolumeClaimRef: { name: 'c' } } }, 'spec.accounting.persistentVolumeClaimRef'],
  [{ tls: { secretRef: { name: 't' } } }, 'spec.tls.secretRef'],
  [{ server: { maxWaiting: 8 } }, 'spec.server'],
  [{ requestLog: { uri: 's3://b/log/' } }, 'spec.requestLog'],
  [{ administration: { keysSecretRef: { name: 'k' } } }, 'spec.administration'],
])('vLLM is refused %j', (spec: { engine?: object }, path) => {
  const engine = { runtime: 'vllm', ...spec.engine };
  expect(violations({ ...spec, engine })).toEqual([`${path} is for engine.runtime native`]);
});

test.each<[object]>([
  [{ resourceName: 'amd.com/gpu', devices: 16 }],
  [{ profile: 'mi300x-cpx-nps4', devices: 9 }],
])('the native runtime is refused more GPUs than it adds up over: %j', (accelerator) => {
  expect(violations({ accelerator })).toEqual([
    'spec.accelerator.devices is more than the 8 GPUs that the native runtime adds up over without a library',
  ]);
});

test.each(['file:///logs/', 's3://', 's3://b/m.gguf'])('a request log at %s is refused', (uri) => {
  expect(violations({ requestLog: { uri } }).join()).toContain('spec.requestLog.uri must');
});

test.each<[object]>([
  [{ accelerator: { resourceName: 'amd.com/gpu', devices: 8 } }],
  [{ accelerator: { devices: 16 } }],
  [{ accelerator: { resourceName: 'amd.com/gpu', devices: 16 }, engine: { collectives: 'library' } }],
  [{ accelerator: { resourceName: 'amd.com/gpu', devices: 16 }, engine: { runtime: 'vllm' } }],
])('%j may have its devices', (spec) => {
  expect(violations(spec)).toEqual([]);
});
