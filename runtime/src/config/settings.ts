// Every setting that reaches the engine config: its field, its environment name (those of the reference deployment
// where it has one), its flag and how its text is read. The one table behind parsing, conflict checks and --help.

import {
  readBoolean,
  readInteger,
  readKvCacheDtype,
  readList,
  readPercent,
  readText,
} from '@llmservice/crds';
import { resolve } from 'node:path';

export interface Setting {
  /** Path in the engine config. */
  readonly field: string;
  readonly env: string;
  readonly flag: string;
  /** Placeholder in --help. */
  readonly placeholder: string;
  readonly help: string;
  /** The text as the field's JSON value; throws an Error that says what was expected. */
  readonly read: (text: string) => unknown;
}

export const settings: readonly Setting[] = [
  setting(
    'model.uri',
    'STORAGE_URI',
    '--model',
    'DIR|URI',
    'checkpoint: a folder, file:///path or s3://bucket/prefix/',
    asUri,
  ),
  setting('model.name', 'MODEL_NAME', '--name', 'NAME', 'the served name', readText),
  setting(
    'model.aliases',
    'MODEL_ALIASES',
    '--aliases',
    'NAME,NAME',
    'further names that are served',
    readList,
  ),
  setting(
    'model.s3.endpoint',
    'AWS_ENDPOINT_URL',
    '--s3-endpoint',
    'URL',
    'S3 endpoint; without it, that of AWS',
    readText,
  ),
  setting(
    'model.s3.region',
    'AWS_REGION',
    '--s3-region',
    'NAME',
    'S3 region; without it, us-east-1',
    readText,
  ),
  setting(
    'model.s3.forcePathStyle',
    'S3_FORCE_PATH_STYLE',
    '--s3-path-style',
    'BOOL',
    'bucket in the path, not in the host name',
    readBoolean,
  ),
  setting('accelerator.kind', 'ACCELERATOR', '--accelerator', 'KIND', 'cpu, cuda or hip', readText),
  setting(
    'accelerator.memoryBytesPerDevice',
    'MEMORY_BYTES_PER_DEVICE',
    '--memory-bytes',
    'BYTES',
    'memory to plan with; without it, measured',
    readInteger,
  ),
  setting(
    'parallelism.tensor',
    'TENSOR_PARALLEL_SIZE',
    '--tensor-parallel-size',
    'N',
    'ranks that share the model',
    readInteger,
  ),
  setting(
    'engine.maxModelLen',
    'MAX_MODEL_LEN',
    '--max-model-len',
    'TOKENS',
    'prompt plus output; without it, the longest that fits',
    readInteger,
  ),
  setting(
    'engine.memoryUtilizationPercent',
    'GPU_MEMORY_UTILIZATION',
    '--gpu-memory-utilization',
    '0..1',
    'share of the memory to plan with',
    readPercent,
  ),
  setting(
    'engine.maxNumSeqs',
    'MAX_NUM_SEQS',
    '--max-num-seqs',
    'N',
    'sequences that run at once',
    readInteger,
  ),
  setting(
    'engine.maxNumBatchedTokens',
    'MAX_NUM_BATCHED_TOKENS',
    '--max-num-batched-tokens',
    'N',
    'rows of the largest step',
    readInteger,
  ),
  setting(
    'engine.blockSize',
    'BLOCK_SIZE',
    '--block-size',
    'TOKENS',
    'tokens per KV block: 16, 32, 64 or 128',
    readInteger,
  ),
  setting(
    'engine.prefixCaching',
    'ENABLE_PREFIX_CACHING',
    '--enable-prefix-caching',
    'BOOL',
    'reuse the cache of what prompts share',
    readBoolean,
  ),
  setting(
    'engine.kvCacheDtype',
    'KV_CACHE_DTYPE',
    '--kv-cache-dtype',
    'TYPE',
    'type of the KV cache: auto (as dtype) or fp8',
    readKvCacheDtype,
  ),
  setting('engine.dtype', 'DTYPE', '--dtype', 'TYPE', 'auto, bfloat16 or float32', readText),
  setting(
    'engine.quantization',
    'QUANTIZATION',
    '--quantization',
    'FORMAT',
    'what unquantized matrices become at load: none, fp8 or int8',
    readText,
  ),
  setting(
    'engine.speculative.method',
    'SPECULATIVE_METHOD',
    '--speculative-method',
    'METHOD',
    'who guesses the next tokens: none, ngram or mtp',
    readText,
  ),
  setting(
    'engine.speculative.tokens',
    'NUM_SPECULATIVE_TOKENS',
    '--num-speculative-tokens',
    'N',
    'most guesses per sequence and step',
    readInteger,
  ),
  setting(
    'engine.speculative.uri',
    'SPECULATIVE_URI',
    '--speculative-uri',
    'DIR|URI',
    'another release of the model, whose layer guesses by mtp where the checkpoint has none',
    asUri,
  ),
  setting(
    'engine.collectives',
    'COLLECTIVES',
    '--collectives',
    'WHO',
    'who adds up for ranks on GPUs: auto, own or library (NCCL, RCCL)',
    readText,
  ),
  setting(
    'engine.warmup.preset',
    'WARMUP',
    '--warmup',
    'PRESET',
    'steps to run before the first request: auto (on GPUs), short, long, all or none',
    readText,
  ),
  setting(
    'engine.warmup.shapes',
    'WARMUP_SHAPES',
    '--warmup-shapes',
    'PROMPT:MAX,…',
    'requests to be ready for: tokens of the prompt, and of prompt plus output',
    readList,
  ),
  setting(
    'engine.warmup.timeLimitSeconds',
    'WARMUP_TIME_LIMIT_SECONDS',
    '--warmup-time-limit',
    'SECONDS',
    'no further step of the warm-up begins after so long',
    readInteger,
  ),
  setting(
    'auth.keysDir',
    'KEYS_DIR',
    '--keys-dir',
    'DIR',
    'folder with keys.yaml or keys.json; without it, no API key is asked for',
    asPath,
  ),
  setting(
    'auth.maxReplicas',
    'MAX_REPLICAS',
    '--max-replicas',
    'N',
    'replicas that share the budgets of the keys',
    readInteger,
  ),
  setting(
    'auth.protectMetrics',
    'PROTECT_METRICS',
    '--protect-metrics',
    'BOOL',
    'ask for an API key on /metrics too',
    readBoolean,
  ),
  setting(
    'accounting.dir',
    'ACCOUNTING_DIR',
    '--accounting-dir',
    'DIR',
    'gets a line for each finished request; without it, none is written',
    asPath,
  ),
  setting(
    'drainTimeoutSeconds',
    'DRAIN_TIMEOUT_SECONDS',
    '--drain-timeout',
    'SECONDS',
    'time for running generations after SIGTERM',
    readInteger,
  ),
  setting(
    'noProgressTimeoutSeconds',
    'NO_PROGRESS_TIMEOUT_SECONDS',
    '--progress-timeout',
    'SECONDS',
    'a load without progress for so long is given up',
    readInteger,
  ),
];

function setting(
  field: string,
  env: string,
  flag: string,
  placeholder: string,
  help: string,
  read: (text: string) => unknown,
): Setting {
  return { field, env, flag, placeholder, help, read };
}

/** A path is taken relative to the working directory, as a shell user means it. */
function asUri(text: string): string {
  const uri = readText(text);
  return /^[a-z][a-z0-9+.-]*:\/\//.test(uri) ? uri : resolve(uri);
}

function asPath(text: string): string {
  return resolve(readText(text));
}
