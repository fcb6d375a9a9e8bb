// Every setting that reaches the engine config: its field, its environment name (those of the reference deployment
// where it has one), its flag and how its text is read. The one table behind parsing, conflict checks and --help.

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
  setting('model.name', 'MODEL_NAME', '--name', 'NAME', 'the served name', asText),
  setting(
    'model.aliases',
    'MODEL_ALIASES',
    '--aliases',
    'NAME,NAME',
    'further names that are served',
    asList,
  ),
  setting(
    'model.s3.endpoint',
    'AWS_ENDPOINT_URL',
    '--s3-endpoint',
    'URL',
    'S3 endpoint; without it, that of AWS',
    asText,
  ),
  setting('model.s3.region', 'AWS_REGION', '--s3-region', 'NAME', 'S3 region', asText),
  setting(
    'model.s3.forcePathStyle',
    'S3_FORCE_PATH_STYLE',
    '--s3-path-style',
    'BOOL',
    'bucket in the path, not in the host name',
    asBoolean,
  ),
  setting('accelerator.kind', 'ACCELERATOR', '--accelerator', 'KIND', 'cpu, cuda or hip', asText),
  setting(
    'accelerator.memoryBytesPerDevice',
    'MEMORY_BYTES_PER_DEVICE',
    '--memory-bytes',
    'BYTES',
    'memory to plan with; without it, measured',
    asInteger,
  ),
  setting(
    'parallelism.tensor',
    'TENSOR_PARALLEL_SIZE',
    '--tensor-parallel-size',
    'N',
    'ranks that share the model',
    asInteger,
  ),
  setting(
    'engine.maxModelLen',
    'MAX_MODEL_LEN',
    '--max-model-len',
    'TOKENS',
    'prompt plus output; without it, the longest that fits',
    asInteger,
  ),
  setting(
    'engine.memoryUtilizationPercent',
    'GPU_MEMORY_UTILIZATION',
    '--gpu-memory-utilization',
    '0..1',
    'share of the memory to plan with',
    asPercent,
  ),
  setting(
    'engine.maxNumSeqs',
    'MAX_NUM_SEQS',
    '--max-num-seqs',
    'N',
    'sequences that run at once',
    asInteger,
  ),
  setting(
    'engine.maxNumBatchedTokens',
    'MAX_NUM_BATCHED_TOKENS',
    '--max-num-batched-tokens',
    'N',
    'rows of the largest step',
    asInteger,
  ),
  setting(
    'engine.blockSize',
    'BLOCK_SIZE',
    '--block-size',
    'TOKENS',
    'tokens per KV block: 16, 32, 64 or 128',
    asInteger,
  ),
  setting('engine.dtype', 'DTYPE', '--dtype', 'TYPE', 'auto, bfloat16 or float32', asText),
  setting(
    'engine.quantization',
    'QUANTIZATION',
    '--quantization',
    'FORMAT',
    'what unquantized matrices become at load: none, fp8 or int8',
    asText,
  ),
  setting(
    'drainTimeoutSeconds',
    'DRAIN_TIMEOUT_SECONDS',
    '--drain-timeout',
    'SECONDS',
    'time for running generations after SIGTERM',
    asInteger,
  ),
  setting(
    'noProgressTimeoutSeconds',
    'NO_PROGRESS_TIMEOUT_SECONDS',
    '--progress-timeout',
    'SECONDS',
    'a load without progress for so long is given up',
    asInteger,
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

function asText(text: string): string {
  if (text.trim() === '') throw new Error('expected a text that is not empty');
  return text.trim();
}

/** A path is taken relative to the working directory, as a shell user means it. */
function asUri(text: string): string {
  const uri = asText(text);
  return /^[a-z][a-z0-9+.-]*:\/\//.test(uri) ? uri : resolve(uri);
}

function asList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function asInteger(text: string): number {
  if (!/^\s*-?\d+\s*$/.test(text)) throw new Error('expected a whole number');
  return Number(text);
}

export function asBoolean(text: string): boolean {
  const value = text.trim().toLowerCase();
  if (['true', '1', 'yes'].includes(value)) return true;
  if (['false', '0', 'no'].includes(value)) return false;
  throw new Error('expected true or false');
}

/** 0.85 → 85. */
function asPercent(text: string): number {
  const share = Number(text);
  const percent = Math.round(share * 100);
  if (text.trim() === '' || !(share > 0 && share <= 1) || Math.abs(percent - share * 100) > 1e-6) {
    throw new Error('expected a number above 0 and up to 1, in whole percents, such as 0.85');
  }
  return percent;
}
