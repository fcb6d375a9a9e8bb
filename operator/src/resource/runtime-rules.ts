// What of a spec only one of the two engines knows. The API server's CEL rules say the same; these hold where its copy of
// the CRD is older, and for variables that stand for fields.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';

/** GPUs whose ranks add up over each other's memory, unless a library does (rank_memory.cpp). */
const maxGpus = 8;

export function runtimeViolations(spec: LlmServiceSpec): Violation[] {
  return spec.engine.runtime === 'vllm' ? ofNativeAlone(spec) : [...ofVllmAlone(spec), ...tooManyGpus(spec)];
}

function ofVllmAlone({ engine }: LlmServiceSpec): Violation[] {
  const fields = ['args', 'reasoningParser', 'toolCallParser'] as const;
  return fields
    .filter((field) => engine[field] !== undefined)
    .map((field) => ({ path: `spec.engine.${field}`, message: 'is for engine.runtime vllm' }));
}

function tooManyGpus({ accelerator, engine }: LlmServiceSpec): Violation[] {
  const { resourceName, profile, devices } = accelerator;
  const onCpu = resourceName === 'none' && profile === undefined;
  if (onCpu || devices <= maxGpus || engine.collectives === 'library') return [];
  const message = `is more than the ${maxGpus} GPUs that the native runtime adds up over without a library`;
  return [{ path: 'spec.accelerator.devices', message }];
}

function ofNativeAlone(spec: LlmServiceSpec): Violation[] {
  const { model, engine, auth, accounting, tls, server, requestLog, administration } = spec;
  const set: readonly [string, boolean][] = [
    ['spec.model.uri (a GGUF file)', model.uri.endsWith('.gguf')],
    ['spec.model.cache.kind', model.cache.kind !== 'emptyDir'],
    ['spec.engine.quantization (int8)', engine.quantization === 'int8'],
    ['spec.engine.speculative.uri', engine.speculative.uri !== undefined],
    ['spec.auth.keysSecretRef', auth.keysSecretRef !== undefined],
    ['spec.accounting.persistentVolumeClaimRef', accounting.persistentVolumeClaimRef !== undefined],
    ['spec.tls.secretRef', tls.secretRef !== undefined],
    ['spec.server', server !== undefined],
    ['spec.requestLog', requestLog !== undefined],
    ['spec.administration', administration !== undefined],
  ];
  return set
    .filter(([, isSet]) => isSet)
    .map(([path]) => ({ path, message: 'is for engine.runtime native' }));
}
