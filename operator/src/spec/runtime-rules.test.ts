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
])('the native engine is refused %j', (spec, told) => {
  expect(violations(spec)).toEqual([told]);
});

test.each<[object, string]>([
  [{ model: { uri: 's3://b/m.gguf' } }, 'spec.model.uri (a GGUF file)'],
  [{ engine: { quantization: 'int8' } }, 'spec.engine.quantization (int8)'],
  [{ engine: { speculative: { method: 'mtp', uri: 's3://b/h/' } } }, 'spec.engine.speculative.uri'],
  [{ auth: { keysSecretRef: { name: 'k' } } }, 'spec.auth.keysSecretRef'],
  [{ accounting: { persistentVolumeClaimRef: { name: 'c' } } }, 'spec.accounting.persistentVolumeClaimRef'],
  [{ tls: { secretRef: { name: 't' } } }, 'spec.tls.secretRef'],
])('vLLM is refused %j', (spec: { engine?: object }, path) => {
  const engine = { runtime: 'vllm', ...spec.engine };
  expect(violations({ ...spec, engine })).toEqual([`${path} is for engine.runtime native`]);
});
