// Fields of a spec that a variable of its container may stand for, by the names of the reference deployment: a values
// file that sets MAX_NUM_SEQS needs no engine.maxNumSeqs. The operator plans with what the runtime will read.

import { getField, setField, type JsonObject } from './fields.js';
import type { LlmServiceSpec } from './generated/llm-service.js';
import { specDefaults } from './generated/spec-defaults.js';
import {
  readBoolean,
  readInteger,
  readKvCacheDtype,
  readList,
  readPercent,
  readText,
} from './setting-text.js';
import type { Violation } from './validate.js';

const variables: Readonly<Record<string, { field: string; read: (text: string) => unknown }>> = {
  STORAGE_URI: { field: 'model.uri', read: readText },
  MODEL_NAME: { field: 'model.name', read: readText },
  MODEL_ALIASES: { field: 'model.aliases', read: readList },
  AWS_ENDPOINT_URL: { field: 'model.s3.endpoint', read: readText },
  AWS_REGION: { field: 'model.s3.region', read: readText },
  S3_FORCE_PATH_STYLE: { field: 'model.s3.forcePathStyle', read: readBoolean },
  MEMORY_BYTES_PER_DEVICE: {
    field: 'accelerator.memoryPerDevice',
    read: (text) => String(readInteger(text)),
  },
  TENSOR_PARALLEL_SIZE: { field: 'parallelism.tensor', read: readInteger },
  MAX_MODEL_LEN: { field: 'engine.maxModelLen', read: readInteger },
  GPU_MEMORY_UTILIZATION: { field: 'engine.memoryUtilizationPercent', read: readPercent },
  MAX_NUM_SEQS: { field: 'engine.maxNumSeqs', read: readInteger },
  MAX_NUM_BATCHED_TOKENS: { field: 'engine.maxNumBatchedTokens', read: readInteger },
  BLOCK_SIZE: { field: 'engine.blockSize', read: readInteger },
  ENABLE_PREFIX_CACHING: { field: 'engine.prefixCaching', read: readBoolean },
  KV_CACHE_DTYPE: { field: 'engine.kvCacheDtype', read: readKvCacheDtype },
  DTYPE: { field: 'engine.dtype', read: readText },
  QUANTIZATION: { field: 'engine.quantization', read: readText },
  SPECULATIVE_METHOD: { field: 'engine.speculative.method', read: readText },
  NUM_SPECULATIVE_TOKENS: { field: 'engine.speculative.tokens', read: readInteger },
  COLLECTIVES: { field: 'engine.collectives', read: readText },
  WARMUP: { field: 'engine.warmup.preset', read: readText },
  WARMUP_SHAPES: { field: 'engine.warmup.shapes', read: readList },
  WARMUP_TIME_LIMIT_SECONDS: { field: 'engine.warmup.timeLimitSeconds', read: readInteger },
  SPECULATIVE_URI: { field: 'engine.speculative.uri', read: readText },
  MAX_REPLICAS: { field: 'auth.maxReplicas', read: readInteger },
  PROTECT_METRICS: { field: 'auth.protectMetrics', read: readBoolean },
  DRAIN_TIMEOUT_SECONDS: { field: 'rollout.drainTimeoutSeconds', read: readInteger },
  NO_PROGRESS_TIMEOUT_SECONDS: { field: 'rollout.noProgressTimeoutSeconds', read: readInteger },
};

/**
 * The spec with its variables in the fields that they stand for. A field that is unset, or stands at its default,
 * yields to the variable; one that says something else is a violation. Variables with `valueFrom` are not looked into.
 */
export function withVariables(spec: LlmServiceSpec): { spec: LlmServiceSpec; violations: Violation[] } {
  const result = structuredClone(spec);
  const violations: Violation[] = [];
  for (const [index, { name, value }] of (spec.env ?? []).entries()) {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    // An empty value unsets a variable of the image.
    if (variable === undefined || value === undefined || value === '') continue;
    const violate = (message: string): void => {
      violations.push({ path: `spec.env[${String(index)}]`, message: `${name}=${value} ${message}` });
    };
    try {
      const wanted = variable.read(value);
      const set = getField(result as unknown as JsonObject, variable.field);
      const unset = set === undefined || set === getField(specDefaults, variable.field);
      if (unset) setField(result as unknown as JsonObject, variable.field, wanted);
      else if (JSON.stringify(set) !== JSON.stringify(wanted))
        violate(`contradicts spec.${variable.field}: ${JSON.stringify(set)}; keep one of them`);
    } catch (error) {
      violate(`is not valid: ${(error as Error).message}`);
    }
  }
  return { spec: result, violations };
}
