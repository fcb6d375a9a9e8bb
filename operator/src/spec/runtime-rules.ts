// What of a spec only one of the two engines knows. The API server's CEL rules say the same; these hold where its copy of
// the CRD is older, and for variables that stand for fields.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';

export function runtimeViolations(spec: LlmServiceSpec): Violation[] {
  return spec.engine.runtime === 'vllm' ? ofNativeAlone(spec) : ofVllmAlone(spec);
}

function ofVllmAlone({ engine }: LlmServiceSpec): Violation[] {
  const fields = ['args', 'reasoningParser', 'toolCallParser'] as const;
  return fields
    .filter((field) => engine[field] !== undefined)
    .map((field) => ({ path: `spec.engine.${field}`, message: 'is for engine.runtime vllm' }));
}

function ofNativeAlone({ model, engine, auth, accounting, tls }: LlmServiceSpec): Violation[] {
  const set: readonly [string, boolean][] = [
    ['spec.model.uri (a GGUF file)', model.uri.endsWith('.gguf')],
    ['spec.model.cache.kind', model.cache.kind !== 'emptyDir'],
    ['spec.engine.quantization (int8)', engine.quantization === 'int8'],
    ['spec.engine.speculative.uri', engine.speculative.uri !== undefined],
    ['spec.auth.keysSecretRef', auth.keysSecretRef !== undefined],
    ['spec.accounting.persistentVolumeClaimRef', accounting.persistentVolumeClaimRef !== undefined],
    ['spec.tls.secretRef', tls.secretRef !== undefined],
  ];
  return set
    .filter(([, isSet]) => isSet)
    .map(([path]) => ({ path, message: 'is for engine.runtime native' }));
}
