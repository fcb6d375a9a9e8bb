// Every setting that reaches the engine config: the contract's variables with their flags and how --help describes them.
// The one table behind parsing, conflict checks and --help.

import { engineVariables, readText, type EngineVariable, type EngineVariableName } from '@llmservice/crds';
import { resolve } from 'node:path';
import { reasoningParsers } from '../request/text/think-ids.js';
import { toolCallParsers } from '../tools/dialect.js';

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

type Flag = readonly [flag: string, placeholder: string, help: string, read?: (text: string) => unknown];

const flags: Readonly<Record<EngineVariableName, Flag>> = {
  STORAGE_URI: [
    '--model',
    'DIR|URI',
    'checkpoint: a folder, file:///path, s3://bucket/prefix/, hf://owner/name@revision, oci://registry/repository:tag or https://host/list.json',
    asUri,
  ],
  MODEL_NAME: ['--name', 'NAME', 'the served name'],
  MODEL_ALIASES: ['--aliases', 'NAME,NAME', 'further names that are served'],
  AWS_ENDPOINT_URL: ['--s3-endpoint', 'URL', 'S3 endpoint; without it, that of AWS'],
  AWS_REGION: ['--s3-region', 'NAME', 'S3 region; without it, us-east-1'],
  S3_FORCE_PATH_STYLE: ['--s3-path-style', 'BOOL', 'bucket in the path, not in the host name'],
  HF_ENDPOINT: ['--hub-endpoint', 'URL', 'hub of models; without it, https://huggingface.co'],
  OCI_PLAIN_HTTP: ['--oci-plain-http', 'BOOL', 'registries answer over HTTP, without TLS'],
  ACCELERATOR: ['--accelerator', 'KIND', 'cpu, cuda or hip'],
  MEMORY_BYTES_PER_DEVICE: ['--memory-bytes', 'BYTES', 'memory to plan with; without it, measured'],
  TENSOR_PARALLEL_SIZE: ['--tensor-parallel-size', 'N', 'ranks that share the model'],
  PIPELINE_PARALLEL_SIZE: [
    '--pipeline-parallel-size',
    'N',
    'stages that divide the layers, each of so many ranks',
  ],
  MAX_MODEL_LEN: ['--max-model-len', 'TOKENS', 'prompt plus output; without it, the longest that fits'],
  GPU_MEMORY_UTILIZATION: ['--gpu-memory-utilization', '0..1', 'share of the memory to plan with'],
  MAX_NUM_SEQS: ['--max-num-seqs', 'N', 'sequences that run at once'],
  MAX_NUM_BATCHED_TOKENS: ['--max-num-batched-tokens', 'N', 'rows of the largest step'],
  BLOCK_SIZE: ['--block-size', 'TOKENS', 'tokens per KV block: 16, 32, 64 or 128'],
  ENABLE_PREFIX_CACHING: ['--enable-prefix-caching', 'BOOL', 'reuse the cache of what prompts share'],
  KV_CACHE_DTYPE: ['--kv-cache-dtype', 'TYPE', 'type of the KV cache: auto (as dtype) or fp8'],
  DTYPE: ['--dtype', 'TYPE', 'auto, bfloat16 or float32'],
  EXACTNESS: ['--exactness', 'TYPE', 'activations of products on the CPU: auto (as is fastest) or float32'],
  QUANTIZATION: ['--quantization', 'FORMAT', 'what unquantized matrices become at load: none, fp8 or int8'],
  SPECULATIVE_METHOD: [
    '--speculative-method',
    'METHOD',
    'who guesses the next tokens: none, ngram, mtp, eagle3 or draft_model',
  ],
  NUM_SPECULATIVE_TOKENS: ['--num-speculative-tokens', 'N', 'most guesses per sequence and step'],
  SPECULATIVE_URI: [
    '--speculative-uri',
    'DIR|URI',
    'for mtp another release of the model, whose layer guesses where the checkpoint has none; for eagle3 and draft_model the draft model',
    asUri,
  ],
  COLLECTIVES: ['--collectives', 'WHO', 'who adds up for ranks on GPUs: auto, own or library (NCCL, RCCL)'],
  SELF_CHECK: ['--self-check', 'BOOL', 'compare the loaded engine with a reference before it is ready'],
  WARMUP: [
    '--warmup',
    'PRESET',
    'steps to run before the first request: auto (on GPUs), short, long, all or none',
  ],
  WARMUP_SHAPES: [
    '--warmup-shapes',
    'PROMPT:MAX,…',
    'requests to be ready for: tokens of the prompt, and of prompt plus output',
  ],
  WARMUP_TIME_LIMIT_SECONDS: [
    '--warmup-time-limit',
    'SECONDS',
    'no further step of the warm-up begins after so long',
  ],
  TOOL_CALL_PARSER: [
    '--tool-call-parser',
    'PARSER',
    `how the model writes calls: ${[...toolCallParsers.keys()].join(', ')}; without it, as the chat template does`,
  ],
  TOOLS_WITHOUT_TEMPLATE: [
    '--tools-without-template',
    'HOW',
    'tools where the chat template shows none: describe (in the system message; the default) or refuse',
  ],
  REASONING_PARSER: [
    '--reasoning-parser',
    'PARSER',
    `what stands around reasoning: ${[...reasoningParsers.keys()].join(', ')}; without it, <think> where the vocabulary has it, or the channel of Gemma 4`,
  ],
  CLASSIFIER_FROM_TOKEN: [
    '--classifier-from-token',
    'TOKEN,TOKEN',
    'tokens whose logits behind a prompt score it, such as no,yes of Qwen3-Reranker',
  ],
  THINKING_DEFAULT: [
    '--thinking-default',
    'BOOL',
    'think about requests that do not say; without it, as the chat template has it',
  ],
  SAMPLING_DEFAULTS: [
    '--sampling-defaults',
    'JSON',
    'sampling of requests that do not set it, such as {"thinking":{"temperature":1},"plain":{"topP":0.8}}',
  ],
  KEYS_DIR: [
    '--keys-dir',
    'DIR',
    'folder with keys.yaml or keys.json; without it, no API key is asked for',
    asPath,
  ],
  MAX_REPLICAS: ['--max-replicas', 'N', 'replicas that share the budgets of the keys'],
  PROTECT_METRICS: ['--protect-metrics', 'BOOL', 'ask for an API key on /metrics too'],
  ACCOUNTING_DIR: [
    '--accounting-dir',
    'DIR',
    'gets a line for each finished request; without it, none is written',
    asPath,
  ],
  DRAIN_TIMEOUT_SECONDS: ['--drain-timeout', 'SECONDS', 'time for running generations after SIGTERM'],
  NO_PROGRESS_TIMEOUT_SECONDS: [
    '--progress-timeout',
    'SECONDS',
    'a load without progress for so long is given up',
  ],
};

export const settings: readonly Setting[] = Object.entries(flags).map(
  ([env, [flag, placeholder, help, ofShell]]) => {
    const { config, read }: EngineVariable = engineVariables[env as EngineVariableName];
    return { field: config, env, flag, placeholder, help, read: ofShell ?? read };
  },
);

/** A path is taken relative to the working directory, as a shell user means it. */
function asUri(text: string): string {
  const uri = readText(text);
  return /^[a-z][a-z0-9+.-]*:\/\//.test(uri) ? uri : resolve(uri);
}

function asPath(text: string): string {
  return resolve(readText(text));
}
