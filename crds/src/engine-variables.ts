// Every environment variable of the engine's settings, by the names of the reference deployment where it has one: the field
// of the engine config that the runtime reads it into, and the field of the spec that it stands for in `spec.env`.

import {
  readBoolean,
  readInteger,
  readJsonObject,
  readKvCacheDtype,
  readList,
  readPercent,
  readText,
} from './setting-text.js';

export interface EngineVariable {
  /** Path in the engine config. */
  readonly config: string;
  /** Path in the spec; null: it follows from others, or from where the operator mounts a volume. */
  readonly spec: string | null;
  /** The text as the field's JSON value; throws an Error that says what was expected. */
  readonly read: (text: string) => unknown;
}

export const engineVariables = {
  STORAGE_URI: same('model.uri', readText),
  MODEL_NAME: same('model.name', readText),
  MODEL_ALIASES: same('model.aliases', readList),
  AWS_ENDPOINT_URL: same('model.s3.endpoint', readText),
  AWS_REGION: same('model.s3.region', readText),
  S3_FORCE_PATH_STYLE: same('model.s3.forcePathStyle', readBoolean),
  HF_ENDPOINT: same('model.hub.endpoint', readText),
  OCI_PLAIN_HTTP: same('model.oci.plainHttp', readBoolean),
  ACCELERATOR: { config: 'accelerator.kind', spec: null, read: readText },
  MEMORY_BYTES_PER_DEVICE: {
    config: 'accelerator.memoryBytesPerDevice',
    spec: 'accelerator.memoryPerDevice',
    read: readInteger,
  },
  TENSOR_PARALLEL_SIZE: same('parallelism.tensor', readInteger),
  PIPELINE_PARALLEL_SIZE: same('parallelism.pipeline', readInteger),
  MAX_MODEL_LEN: same('engine.maxModelLen', readInteger),
  GPU_MEMORY_UTILIZATION: same('engine.memoryUtilizationPercent', readPercent),
  MAX_NUM_SEQS: same('engine.maxNumSeqs', readInteger),
  MAX_NUM_BATCHED_TOKENS: same('engine.maxNumBatchedTokens', readInteger),
  BLOCK_SIZE: same('engine.blockSize', readInteger),
  ENABLE_PREFIX_CACHING: same('engine.prefixCaching', readBoolean),
  KV_CACHE_DTYPE: same('engine.kvCacheDtype', readKvCacheDtype),
  DTYPE: same('engine.dtype', readText),
  EXACTNESS: same('engine.exactness', readText),
  QUANTIZATION: same('engine.quantization', readText),
  SPECULATIVE_METHOD: same('engine.speculative.method', readText),
  NUM_SPECULATIVE_TOKENS: same('engine.speculative.tokens', readInteger),
  SPECULATIVE_URI: same('engine.speculative.uri', readText),
  COLLECTIVES: same('engine.collectives', readText),
  SELF_CHECK: same('engine.selfCheck', readBoolean),
  WARMUP: same('engine.warmup.preset', readText),
  WARMUP_SHAPES: same('engine.warmup.shapes', readList),
  WARMUP_TIME_LIMIT_SECONDS: same('engine.warmup.timeLimitSeconds', readInteger),
  TOOL_CALL_PARSER: same('engine.toolCallParser', readText),
  TOOLS_WITHOUT_TEMPLATE: same('engine.toolsWithoutTemplate', readText),
  REASONING_PARSER: same('engine.reasoningParser', readText),
  CLASSIFIER_FROM_TOKEN: same('engine.classifierFromToken', readList),
  THINKING_DEFAULT: same('engine.thinkingDefault', readBoolean),
  SAMPLING_DEFAULTS: same('engine.samplingDefaults', readJsonObject),
  KEYS_DIR: { config: 'auth.keysDir', spec: null, read: readText },
  MAX_REPLICAS: same('auth.maxReplicas', readInteger),
  PROTECT_METRICS: same('auth.protectMetrics', readBoolean),
  ACCOUNTING_DIR: { config: 'accounting.dir', spec: null, read: readText },
  DRAIN_TIMEOUT_SECONDS: {
    config: 'drainTimeoutSeconds',
    spec: 'rollout.drainTimeoutSeconds',
    read: readInteger,
  },
  NO_PROGRESS_TIMEOUT_SECONDS: {
    config: 'noProgressTimeoutSeconds',
    spec: 'rollout.noProgressTimeoutSeconds',
    read: readInteger,
  },
} satisfies Record<string, EngineVariable>;
export type EngineVariableName = keyof typeof engineVariables;

/** Of a field that has one path in both. */
function same(path: string, read: EngineVariable['read']): EngineVariable {
  return { config: path, spec: path, read };
}
